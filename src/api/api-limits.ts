/** Everything that one client, or all of them, may take up. docs/limits.md lists these. */
export const apiLimits = {
  /** Bytes of a REST body: the largest transaction, 8 000 000 bytes, as hex, and what stands around it. */
  restBody: 16_000_000 + 64 * 1024,
  /** Bytes of a JSON-RPC body: the same transaction has to go in. */
  rpcBody: 16_000_000 + 64 * 1024,
  /** Bytes of a JSON-RPC body that may hold anything, and of a WebSocket message; what makes a larger body large has to be text. */
  rpcPlainBody: 1024 * 1024,
  /** Values of a larger one. */
  rpcLargeBodyValues: 4096,
  /** Bytes of all bodies that are held at once; further ones are told to come back. */
  allBodies: 128 * 1024 * 1024,
  /** Bytes of those that only small bodies may take, so that large ones do not keep them out; and what is small. */
  smallBodies: 32 * 1024 * 1024,
  smallBody: 64 * 1024,
  /** When there is no room: bytes a second that a body has to come with, after so many milliseconds. */
  bodyRate: 32 * 1024,
  bodyGrace: 2000,
  /** Milliseconds that a body may make no progress. */
  bodyTimeout: 10_000,
  /** Requests of one JSON-RPC batch. */
  batch: 100,
  /** Bytes of the answers of one batch; requests after that are told to come in another one. */
  batchAnswers: 64 * 1024 * 1024,
  /** Addresses of one `listunspent`, and coins of one list. */
  listedAddresses: 100,
  listedCoins: 10_000,
  /** Pooled transactions that `getrawmempool` shows as objects. */
  poolObjects: 10_000,
  /** Bytes of request line and headers. */
  headers: 16 * 1024,
  /** Milliseconds until the headers of a request must be there. */
  headersTimeout: 10_000,
  /** Milliseconds until a request must be there with its body. */
  requestTimeout: 60_000,
  /** Milliseconds that an open connection may wait for its next request. */
  keepAliveTimeout: 10_000,
  /** Milliseconds without a byte in either direction. */
  socketTimeout: 120_000,
  /** Connections of one port and address, and those of one client address among them; this machine may have half of all. */
  connections: 1000,
  connectionsPerAddress: 64,
  /** Requests that a connection may send ahead of the answers; with more it is closed. */
  pipelined: 64,
  /** Bytes of answers that all connections of one port and address together may leave unread. */
  unread: 64 * 1024 * 1024,
  /** Milliseconds that closing waits for requests under way. */
  closeGrace: 3000,
  /** Bytes of answers that are kept until the tip changes. */
  answerCache: 16 * 1024 * 1024,
  /** Bytes of all answers under way that are no point reads, and what each takes: its parts, and what is read ahead. */
  answers: 48 * 1024 * 1024,
  answerPlace: 1024 * 1024,
  /** Bytes that large transactions take while they are decoded for an answer. */
  largeTransactions: 64 * 1024 * 1024,
  /** Bytes of all searches under way. */
  searches: 64 * 1024 * 1024,
  /** Answers that wait for each of these, and milliseconds until one that waits is refused. */
  answersWaiting: 64,
  answersPatience: 30_000,
  /** Bytes of a part of an answer, and of the parts that are made ahead of the readers; a shorter answer is sent as one. */
  answerPart: 64 * 1024,
  answerWindow: 512 * 1024,
  /** Milliseconds that one reader may keep others of the same answer waiting. */
  answerLag: 1000,
  /** While others wait: bytes a second that an answer has to be read with, after milliseconds of waiting for its readers. */
  answerRate: 64 * 1024,
  answerGrace: 5000,
  /** WebSocket connections of one address of this machine. */
  wsConnections: 2000,
  /** Frames that one message may come in. */
  wsFragments: 1024,
  /** Messages of a connection that wait for their turn; with so many nothing more of it is read. */
  wsWaiting: 16,
  /** Bytes of messages that are not answered yet and of answers that are not sent yet, of all connections. */
  wsHeld: 128 * 1024 * 1024,
  /** Bytes of an unfinished message that are not counted among them. */
  wsUncounted: 64 * 1024,
  /** Bytes waiting to be sent on a connection with which events, and further answers, wait. */
  wsSendQueue: 64 * 1024,
  /** Subscriptions of a connection. */
  wsSubscriptions: 16,
  /** Blocks that are told again at the same time. */
  wsReplays: 8,
  /** Milliseconds between pings; whoever has not answered one until the next is gone. */
  wsPing: 30_000,
  /** Requests that one address may send in a window of milliseconds, where the server listens beyond loopback. */
  rateRequests: 12_000,
  rateWindow: 60_000,
  /** Leaves loopback clients out of the rate limit; false is for a proxy on this machine. */
  rateSparesLoopback: true,
}

export type ApiLimits = Readonly<typeof apiLimits>
