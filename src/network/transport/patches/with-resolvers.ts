interface Resolvers<T> {
  promise: Promise<T>
  resolve(value: T | PromiseLike<T>): void
  reject(reason?: unknown): void
}

type Constructor = typeof Promise & { withResolvers?: <T>() => Resolvers<T> }

/**
 * Adds `Promise.withResolvers`, used by functions of libp2p, which Node has from version 22. A call: bundlers drop an import for
 * its effects alone.
 */
export function addWithResolvers(): void {
  const constructor = Promise as Constructor
  constructor.withResolvers ??= function <T>(this: PromiseConstructor): Resolvers<T> {
    let resolvers: Omit<Resolvers<T>, 'promise'> | undefined
    const promise = new this<T>((resolve, reject) => {
      resolvers = { resolve, reject }
    })
    // The executor runs synchronously.
    return { promise, ...(resolvers as Omit<Resolvers<T>, 'promise'>) }
  }
}
