/** Everything that one client, or all of them, may take up. docs/limits.md lists these. */
export const apiLimits = {
  /** Bytes of a REST body: the largest transaction, 8 000 000 bytes, as hex, and what stands around it. */
  restBody: 16_000_000 + 64 * 1024,
  /** Bytes of a JSON-RPC body. */
  rpcBody: 1024 * 1024,
  /** Bytes of all bodies that are held at once; further ones are told to come back. */
  allBodies: 128 * 1024 * 1024,
  /** Requests of one JSON-RPC batch. */
  batch: 100,
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
  /** Connections of one port and address. */
  connections: 1000,
  /** Milliseconds that closing waits for requests under way. */
  closeGrace: 3000,
  /** Bytes of answers that are kept until the tip changes. */
  answerCache: 16 * 1024 * 1024,
  /** Requests that one address may send in a window of milliseconds, where the server listens beyond loopback. */
  rateRequests: 12_000,
  rateWindow: 60_000,
  /** Leaves loopback clients out of the rate limit; false is for a proxy on this machine. */
  rateSparesLoopback: true,
}

export type ApiLimits = Readonly<typeof apiLimits>
