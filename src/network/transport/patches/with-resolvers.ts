/** `Promise.withResolvers`, which libp2p uses and Node has from version 22 on. To be imported before it, by a statement of its own. */

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
  // A promise calls its executor at once.
  return { promise, ...(resolvers as Omit<Resolvers<T>, 'promise'>) }
}
