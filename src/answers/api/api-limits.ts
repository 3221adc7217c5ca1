/** Limits of one client, or of all clients together. */
export const apiLimits = {
  /**
   * The largest transaction, 8 000 000 bytes, has to fit as hex with the JSON around it.
   * @limit bytes: body of a REST request
   */
  restBody: 16_000_000 + 64 * 1024,
  /**
   * The same transaction has to fit.
   * @limit bytes: body of a JSON-RPC request
   */
  rpcBody: 16_000_000 + 64 * 1024,
  /**
   * A larger body has to be mostly text: its values, nested or side by side, are parsed in one step.
   * @limit bytes: JSON in a request that may hold any number of values
   */
  plainBody: 128 * 1024,
  /**
   * A full batch of the longest conditions has to fit.
   * @limit count: values in larger JSON of a request
   */
  bodyValues: 32_768,
  /**
   * A transaction built from as many inputs and outputs as one request may name has to fit.
   * @limit count: names of members in larger JSON of a request
   */
  bodyNames: 4096,
  /** @limit bytes: a name of a member in larger JSON of a request */
  bodyName: 128,
  /** @limit bytes: message over WebSocket */
  wsMessage: 1024 * 1024,
  /** @limit bytes: options of DID Resolution in the body of a POST */
  identifierOptions: 16 * 1024,
  /** @limit bytes: all bodies held at once; further ones are refused as `busy` */
  allBodies: 128 * 1024 * 1024,
  /**
   * Large bodies do not block small ones.
   * @limit bytes: part of all bodies reserved for small ones, which may take no more
   */
  smallBodies: 32 * 1024 * 1024,
  /** @limit bytes: a small body */
  smallBody: 64 * 1024,
  /** @limit bytes/s: rate below which a body may be ended when there is no room */
  bodyRate: 32 * 1024,
  /** @limit ms: age of a body from which its rate counts */
  bodyGrace: 2000,
  /** @limit ms: time without a byte of an announced body */
  bodyTimeout: 10_000,
  /** @limit count: requests of a JSON-RPC batch */
  batch: 100,
  /** @limit bytes: answers of a batch, before the rest of it is refused */
  batchAnswers: 64 * 1024 * 1024,
  /** @limit count: addresses of one `listunspent` */
  listedAddresses: 100,
  /** @limit count: inputs, or outputs, of one request in JSON-RPC */
  listedInputs: 1000,
  /** @limit characters: JSON text of a list of inputs or outputs, as a parameter */
  listText: 256 * 1024,
  /** @limit bytes: transactions decoded for one `getamountbyinputs`, each once */
  amountTransactions: 16 * 1024 * 1024,
  /** @tuning count: coins of one list in JSON-RPC */
  listedCoins: 10_000,
  /** @limit count: rows of a page: `getaddresshistory`, `listblocks`, `listdidoperations`, `listvoters` */
  pageRows: 100,
  /** @limit count: days of one `listdays`: 27 years */
  listedDays: 10_000,
  /** @tuning count: blocks that one page of `listdidoperations` examines */
  pageBlocks: 2000,
  /**
   * The block or transaction that exceeds it is still shown, so that every page makes progress.
   * @tuning bytes: transactions and undo records read for one such page, which then ends early
   */
  pageBytes: 32 * 1024 * 1024,
  /** @limit count: transactions that `getrawmempool` shows as objects */
  poolObjects: 10_000,
  /** @limit bytes: request line and headers */
  headers: 16 * 1024,
  /** @limit ms: time for the headers of a request */
  headersTimeout: 10_000,
  /** @limit ms: time for a request with its body */
  requestTimeout: 60_000,
  /**
   * Longer than proxies keep a connection: a request that crosses the end of its connection is lost, and a proxy may not repeat a POST.
   * @limit ms: wait of an open connection for its next request
   */
  keepAliveTimeout: 125_000,
  /** @limit ms: time without a byte in either direction */
  socketTimeout: 120_000,
  /** @limit count: connections of one port and address */
  connections: 1000,
  /** @limit count: connections of an address or /64 of IPv6, those of WebSocket too; loopback may have half of all */
  connectionsPerAddress: 64,
  /** @limit count: requests that a connection sends ahead of the answers; more close it */
  pipelined: 64,
  /** @limit bytes: unread answers of all connections of a port and address */
  unread: 64 * 1024 * 1024,
  /** @tuning ms: wait for requests in progress when closing */
  closeGrace: 3000,
  /** @tuning bytes: answers of all interfaces kept until the tip changes */
  answerCache: 32 * 1024 * 1024,
  /** @tuning bytes: all answers in progress that are no point reads */
  answers: 48 * 1024 * 1024,
  /** @limit bytes: answers that wait for their readers, beside those in progress; the one read least is ended for another */
  unreadAnswers: 64 * 1024 * 1024,
  /** @tuning bytes: memory that one answer in progress counts: its parts, and rows read ahead */
  answerPlace: 1024 * 1024,
  /** @tuning bytes: large transactions while they are decoded for an answer, undo records of large blocks, documents found while they are sent, histories above 1 MiB */
  largeTransactions: 64 * 1024 * 1024,
  /** @tuning bytes: all searches in progress: `query`, `listunspent`, `getutxosbyamount`, `getamountbyinputs`, `listdidoperations` */
  searches: 64 * 1024 * 1024,
  /** @limit count: answers that wait for room: in general, for large transactions, and for searches */
  answersWaiting: 64,
  /** @limit ms: wait of an answer for room, until it is refused */
  answersPatience: 30_000,
  /** @tuning bytes: part of an answer */
  answerPart: 64 * 1024,
  /** @tuning bytes: parts of an answer made ahead of the readers; a shorter answer is sent as one */
  answerWindow: 512 * 1024,
  /** @limit ms: time for which one reader may delay others of the same answer */
  answerLag: 1000,
  /** @limit bytes/s: minimum rate of reading an answer while others wait */
  answerRate: 64 * 1024,
  /** @limit ms: time spent waiting for readers from which their rate counts, and without a read from which it does not matter */
  answerGrace: 5000,
  /** @limit count: WebSocket connections of one address of this machine, on the ports of REST and of WebSocket together */
  wsConnections: 2000,
  /** @limit count: frames of a WebSocket message */
  wsFragments: 1024,
  /** @limit ms: wait of a request for a block of the height that it names */
  heightWait: 2000,
  /** @limit count: requests that wait for such a block, on all interfaces together */
  heightWaiting: 1024,
  /** @limit bytes: JSON-RPC with `minHeight` that waits; a longer one is refused at once below that height */
  heightBody: 8 * 1024,
  /** @tuning count: messages of a WebSocket connection that wait for an answer; at this number reading stops */
  wsWaiting: 16,
  /** @limit bytes: unanswered messages and unsent answers of all WebSocket connections */
  wsHeld: 128 * 1024 * 1024,
  /** @tuning bytes: part of an unfinished WebSocket message that does not count as held */
  wsUncounted: 64 * 1024,
  /** @tuning bytes: unsent bytes of a WebSocket connection at which events and further answers wait */
  wsSendQueue: 64 * 1024,
  /** @limit count: subscriptions of a WebSocket connection */
  wsSubscriptions: 16,
  /**
   * No answer until the next ping → the connection is closed.
   * @limit ms: time for the answer to a ping over WebSocket, and between two pings
   */
  wsPing: 30_000,
  /** @limit count: requests of one address in a window, beyond loopback */
  rateRequests: 12_000,
  /** @limit ms: window in which the requests of one address are counted */
  rateWindow: 60_000,
  /** Exempts loopback clients from the rate limit; false is for a proxy on this machine. */
  rateSparesLoopback: true,
}

export type ApiLimits = Readonly<typeof apiLimits>
