/** Waits, intervals and portions of the transport, which bound nothing. */
const transportPace = {
  /** Milliseconds to wait for the second of two connections to the same node. */
  settleTime: 500,
  /** Milliseconds between two connections that count as opened simultaneously by both nodes. */
  simultaneous: 10_000,
  /** Milliseconds between two pings. */
  pingInterval: 20_000,
  /** Milliseconds after which gossip is set up again with peers that lost it, and data about disconnected nodes is deleted. */
  roundInterval: 10_000,
  /** Milliseconds that distinguish the end of a connection from that of a stream. */
  endingTime: 25,
  /** Bytes passed to a stream at a time. */
  frameSlice: 262_144,
} as const

/** Bounds on memory and time that peers can use, and what goes with them. */
export const transportLimits = {
  ...transportPace,
  /**
   * The LinkHandler decides which to allow.
   * @limit count: connections in both directions
   */
  connections: 1_200,
  /** @limit count: inbound connections without a proved key */
  handshakes: 128,
  /** @limit count: connections of one address without a proved key; a new one replaces the oldest */
  hostHandshakes: 16,
  /** @limit count/s: connections of one address */
  hostConnects: 64,
  /** @limit ms: handshake of an inbound connection */
  handshakeTime: 5_000,
  /** @tuning ms: time for a connection to close in order */
  closeTime: 500,
  /** @tuning ms: time for all connections to close when the node stops */
  stopTime: 2_000,
  /** @tuning ms: a dial */
  dialTime: 10_000,
  /** @tuning ms: a dial of one address of a host */
  addressTime: 5_000,
  /** @tuning count: addresses tried for one host */
  dialAddresses: 4,
  /** @tuning count: concurrent dials */
  dialsAtOnce: 16,
  /** @tuning count: waiting dials */
  dialsWaiting: 128,
  /** @limit ms: wait for the answer to a ping */
  pingTime: 15_000,
  /** @limit count: streams of a connection, opened by each of the two nodes */
  streams: 64,
  /** @limit count: streams of a connection of one protocol, opened by each of the two nodes */
  protocolStreams: 2,
  /** @limit ms: time to agree on the protocol of a stream */
  negotiationTime: 5_000,
  /** @limit bytes: data of a connection before its key is proved, and of a stream before its protocol is agreed on */
  negotiationBytes: 1_024,
  /** @limit bytes: window of a stream, and longest frame of the multiplexer */
  window: 1_048_576,
  /** @limit bytes: unsent data of a stream */
  streamUnsent: 1_048_576,
  /** @limit bytes: unsent data of a connection */
  linkUnsent: 8_388_608,
  /** @limit count: streams opened and pings of a connection in a window */
  controlFrames: 512,
  /** @limit ms: window in which streams opened and pings are counted */
  controlTime: 10_000,
  /** @limit bytes: data of a frame of Yamux that counts as small */
  smallFrame: 256,
  /** @limit count/s: small frames of a connection */
  smallFrameRate: 4_000,
  /** @limit count: small frames of a connection at once */
  smallFrameBurst: 20_000,
  /** @limit count: small frames of a connection at once, right after it was opened */
  smallFrameStart: 4_000,
  /** @tuning count: waiting requests of a protocol on a connection */
  requestsWaiting: 64,
  /** @tuning ms: idle time after which the requesting node ends a stream */
  askerIdle: 15_000,
  /** @limit ms: idle time after which the responding node ends a stream */
  answererIdle: 30_000,
  /** @limit ms: time to receive or send a whole message of a stream, beside the time for its bytes */
  frameTime: 10_000,
  /** @limit bytes/s: minimum rate of a message of a stream */
  frameRate: 32_768,
  /** @limit bytes: unsent answers of all connections; above it the one that holds most and reads least loses its answers */
  answersUnsent: 67_108_864,
  /** @limit bytes: unsent answers of one address, or one /64 of IPv6 */
  siteUnsent: 41_943_040,
  /** @limit bytes: unsent answers of one connection; no more are made */
  linkAnswersUnsent: 33_554_432,
  /** @limit ms: time for which a connection gets only small answers after it did not read others */
  answersRest: 10_000,
  /** @tuning bytes: a small answer */
  smallAnswer: 65_536,
  /** @limit bytes: a frame of gossip */
  gossipFrame: 2_097_152,
  /** @limit bytes: unsent gossip for a peer */
  gossipUnsent: 4_194_304,
  /** @limit count: messages of a peer without a gossip result */
  gossipPending: 256,
  /** @limit bytes: messages of a peer without a gossip result */
  gossipPendingBytes: 2_097_152,
  /** @tuning ms: time for which a gossip message counts as known */
  gossipSeen: 120_000,
  /** @tuning s: time for which a gossip message is kept for its result and for peers */
  gossipKept: 12,
  /** @limit count: entries of one kind in a frame of gossip */
  gossipItems: 5_000,
  /** @tuning count: entries that a topic counts for to which a peer subscribes, or which it leaves */
  gossipTopicItems: 20,
  /** @limit count/s: entries in gossip frames of a peer: messages, topics and ids */
  gossipItemRate: 4_000,
  /** @limit count: entries in gossip frames of a peer at once */
  gossipItemBurst: 20_000,
  /** @limit bytes: names of topics that a peer subscribes to, and 1,024 for each */
  gossipTopicBytes: 65_536,
} as const

export type TransportLimits = { readonly [name in keyof typeof transportLimits]: number }
