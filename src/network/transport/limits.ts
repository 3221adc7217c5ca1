/** What the transport grants to others, so that none of them can make it grow or wait for ever. docs/limits.md explains each. */
export const transportLimits = {
  /** Connections. Which of them are welcome, the owner of the transport says. */
  connections: 1_200,
  handshakes: 128,
  hostHandshakes: 16,
  hostConnects: 64,
  handshakeTime: 5_000,
  closeTime: 500,
  dialTime: 10_000,
  addressTime: 5_000,
  dialAddresses: 4,
  dialsAtOnce: 16,
  dialsWaiting: 128,
  settleTime: 500,
  simultaneous: 10_000,
  pingInterval: 20_000,
  pingTime: 15_000,
  departedInterval: 10_000,
  /** Streams of a connection. */
  streams: 64,
  protocolStreams: 2,
  negotiationTime: 5_000,
  window: 1_048_576,
  streamUnsent: 1_048_576,
  linkUnsent: 8_388_608,
  controlFrames: 512,
  controlTime: 10_000,
  /** Requests and answers. */
  requestsWaiting: 64,
  endingTime: 25,
  askerIdle: 15_000,
  answererIdle: 30_000,
  frameTime: 10_000,
  frameRate: 32_768,
  frameSlice: 262_144,
  answersUnsent: 67_108_864,
  /** Gossip. */
  gossipFrame: 2_097_152,
  gossipUnsent: 4_194_304,
  gossipPending: 256,
  gossipPendingBytes: 2_097_152,
  gossipSeen: 120_000,
  gossipKept: 12,
  gossipItems: 5_000,
  gossipTopicBytes: 65_536,
} as const

export type TransportLimits = { readonly [name in keyof typeof transportLimits]: number }
