interface Receiver {
  onData(data: { readonly byteLength: number }): void
  abort(error: Error): void
}

/**
 * Aborts a connection or stream that sends more than `most` bytes before protocol negotiation ends. Until then libp2p
 * answers every few bytes, which is far more expensive than sending them.
 */
export function boundFirstBytes(receiver: object, most: number, isNegotiated: () => boolean): void {
  const stream = receiver as Receiver
  const take = stream.onData.bind(stream)
  let bytes = 0
  stream.onData = (data) => {
    if (isNegotiated()) {
      stream.onData = take
      return take(data)
    }
    bytes += data.byteLength
    if (bytes <= most) take(data)
    else stream.abort(new Error('too much is said before a protocol is agreed on'))
  }
}
