interface Receiver {
  onData(data: { readonly byteLength: number }): void
  abort(error: Error): void
}

/**
 * Ends a connection or a stream that brings more than `most` bytes before its protocol is agreed on. While it is not,
 * libp2p answers each of a few bytes, which costs far more than to send them.
 */
export function boundFirstBytes(receiver: object, most: number, agreed: () => boolean): void {
  const stream = receiver as Receiver
  const take = stream.onData.bind(stream)
  let bytes = 0
  stream.onData = (data) => {
    if (agreed()) {
      stream.onData = take
      return take(data)
    }
    bytes += data.byteLength
    if (bytes <= most) take(data)
    else stream.abort(new Error('too much is said before a protocol is agreed on'))
  }
}
