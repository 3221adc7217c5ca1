/** `Promise.withResolvers`, used by libp2p, in Node from version 22. Import before libp2p, in a statement of its own. */

interface Resolvers<T> {
  promise: Promise<T>
  resolve(value: T | PromiseLike<T>): void
  reject(reason?: unknown): void
}

type Constructor = typeof Promise & { withResolvers?: <T>() => Resolvers<T> }

const constructor = Promise as Constructor
constructor.withResolvers ??= function <T>(this: PromiseConstructor): Resolvers<T> {
  let resolvers: Omit<Resolvers<T>, 'promise'> | undefined
  const promise = new this<T>((resolve, reject) => {
    resolvers = { resolve, reject }
  })
  // The executor runs synchronously.
  return { promise, ...(resolvers as Omit<Resolvers<T>, 'promise'>) }
}
