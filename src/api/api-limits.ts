/** Limits of one client, or of all clients together. docs/limits.md lists these. */
export const apiLimits = {
  /** Bytes of a REST body: the largest transaction, 8 000 000 bytes, as hex, and the JSON around it. */
  restBody: 16_000_000 + 64 * 1024,
  /** Bytes of a JSON-RPC body: the same transaction has to fit. */
  rpcBody: 16_000_000 + 64 * 1024,
  /** Bytes of a JSON-RPC body of any content, and of a WebSocket message; a larger body has to be mostly text. */
  rpcPlainBody: 1024 * 1024,
  /** Values of a larger body. */
  rpcLargeBodyValues: 4096,
  /** Bytes of all bodies held at once; further ones are refused as `busy`. */
  allBodies: 128 * 1024 * 1024,
  /** Bytes of those reserved for small bodies, so that large ones do not block them; and the size of a small body. */
  smallBodies: 32 * 1024 * 1024,
  smallBody: 64 * 1024,
  /** When memory is short: minimum rate of a body in bytes a second, after a grace in milliseconds. */
  bodyRate: 32 * 1024,
  bodyGrace: 2000,
  /** Milliseconds without progress of a body. */
  bodyTimeout: 10_000,
  /** Requests of one JSON-RPC batch. */
  batch: 100,
  /** Bytes of the answers of one batch; the requests after that are refused. */
  batchAnswers: 64 * 1024 * 1024,
  /** Addresses of one `listunspent`, and coins of one list. */
  listedAddresses: 100,
  listedCoins: 10_000,
  /** Pooled transactions that `getrawmempool` shows as objects. */
  poolObjects: 10_000,
  /** Bytes of request line and headers. */
  headers: 16 * 1024,
  /** Milliseconds until the headers of a request are complete. */
  headersTimeout: 10_000,
  /** Milliseconds until a request is complete with its body. */
  requestTimeout: 60_000,
  /** Milliseconds that an idle connection stays open for its next request. */
  keepAliveTimeout: 10_000,
  /** Milliseconds without a byte in either direction. */
  socketTimeout: 120_000,
  /** Connections of one port and address, and of one client address among them; this machine may have half of all. */
  connections: 1000,
  connectionsPerAddress: 64,
  /** Requests that a connection may send ahead of the answers; more close it. */
  pipelined: 64,
  /** Bytes of unread answers of all connections of one port and address. */
  unread: 64 * 1024 * 1024,
  /** Milliseconds that closing waits for requests in progress. */
  closeGrace: 3000,
  /** Bytes of answers kept until the tip changes. */
  answerCache: 16 * 1024 * 1024,
  /** Bytes of all answers in progress that are no point reads, and of one of them: its parts and what is read ahead. */
  answers: 48 * 1024 * 1024,
  answerPlace: 1024 * 1024,
  /** Bytes that large transactions take while they are decoded for an answer. */
  largeTransactions: 64 * 1024 * 1024,
  /** Bytes of all searches in progress. */
  searches: 64 * 1024 * 1024,
  /** Answers that wait for each of these, and milliseconds until a waiting one is refused. */
  answersWaiting: 64,
  answersPatience: 30_000,
  /** Bytes of a part of an answer, and of the parts made ahead of the readers; a shorter answer is sent as one. */
  answerPart: 64 * 1024,
  answerWindow: 512 * 1024,
  /** Milliseconds that one reader may delay the others of the same answer. */
  answerLag: 1000,
  /** While others wait: minimum read rate in bytes a second, after milliseconds of waiting for the readers. */
  answerRate: 64 * 1024,
  answerGrace: 5000,
  /** WebSocket connections of one listening address. */
  wsConnections: 2000,
  /** Frames of one message. */
  wsFragments: 1024,
  /** Messages of a connection that wait for an answer; at this number reading stops. */
  wsWaiting: 16,
  /** Bytes of unanswered messages and of unsent answers, of all connections. */
  wsHeld: 128 * 1024 * 1024,
  /** Bytes of an unfinished message that do not count as held. */
  wsUncounted: 64 * 1024,
  /** Unsent bytes of a connection at which events and further answers wait. */
  wsSendQueue: 64 * 1024,
  /** Subscriptions of a connection. */
  wsSubscriptions: 16,
  /** Blocks replayed at the same time. */
  wsReplays: 8,
  /** Milliseconds between pings; no answer until the next ping → the connection is closed. */
  wsPing: 30_000,
  /** Requests of one address in a window of milliseconds, where the server listens beyond loopback. */
  rateRequests: 12_000,
  rateWindow: 60_000,
  /** Exempts loopback clients from the rate limit; false is for a proxy on this machine. */
  rateSparesLoopback: true,
}

export type ApiLimits = Readonly<typeof apiLimits>
