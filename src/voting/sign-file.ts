/** Where the sign state is kept. */
export interface SignStore {
  /** The bytes saved last; undefined when there are none. */
  load(): Promise<Uint8Array | undefined>
  /** Resolves when the bytes are sure to outlive a crash, in place of those before. */
  save(bytes: Uint8Array): Promise<void>
}

/** A store in one file. */
export declare class SignFile implements SignStore {
  constructor(path: string)
  load(): Promise<Uint8Array | undefined>
  save(bytes: Uint8Array): Promise<void>
}
