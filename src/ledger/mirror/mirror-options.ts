import { Type } from '@sinclair/typebox'
import { oneOf, optionsFor, wholeNumber } from '../../base/runtime/option.js'

/** Which documents of a DID have files. */
export const mirrorVersions = ['latest', 'all'] as const

/** Settings made by the options of a mirror. */
export interface MirrorSettings {
  /** A folder, or `s3://BUCKET/PREFIX`. */
  readonly to: string
  readonly versions: (typeof mirrorVersions)[number]
  /** Blocks whose files stay. */
  readonly keepBlocks: number
  /** Seconds for which files stay that no later block needs. */
  readonly keepSeconds: number
  /** Base URLs of nodes that answer searches and take transactions. */
  readonly nodes: readonly string[]
  readonly contact: string
}

export const mirrorDefaults = { versions: 'latest', keepBlocks: 288, keepSeconds: 86_400 } as const

const { option, tuning, table } = optionsFor<MirrorSettings>(['devnet', 'start'])

export const mirrorOptions = table('mirror', {
  to: option({
    flag: '--mirror <target>',
    schema: Type.String({ minLength: 1, maxLength: 2048 }),
    expects: 'a folder, or s3://BUCKET/PREFIX',
    description: 'write the registry into files that any web server can serve: to a folder, or to s3://BUCKET/PREFIX',
  }),
  versions: option({
    flag: '--mirror-versions <which>',
    ...oneOf(mirrorVersions),
    default: mirrorDefaults.versions,
    description: 'documents in the mirror: the latest of each DID, or all',
  }),
  nodes: option({
    flag: '--mirror-nodes <url...>',
    schema: Type.Array(Type.String({ pattern: '^https?://', maxLength: 2048 }), {
      minItems: 1,
      maxItems: 16,
      uniqueItems: true,
    }),
    expects: 'a list of 1 to 16 different URLs that begin with http:// or https://',
    description: 'nodes that the mirror names for searches and transactions; the URL of the REST port of each',
  }),
  contact: option({
    flag: '--mirror-contact <text>',
    schema: Type.String({ minLength: 1, maxLength: 500 }),
    expects: 'a text of 1 to 500 characters',
    description: 'who runs the mirror, as the mirror says it',
  }),
  keepBlocks: tuning({
    flag: '--mirror-keep <blocks>',
    ...wholeNumber(16, 10_000_000, 'blocks'),
    default: mirrorDefaults.keepBlocks,
    description: 'last blocks whose files the mirror keeps',
  }),
  keepSeconds: tuning({
    flag: '--mirror-keep-for <seconds>',
    ...wholeNumber(0, 31_536_000, 'seconds'),
    default: mirrorDefaults.keepSeconds,
    description: 'time for which the mirror keeps files that later blocks do not need, at least',
  }),
})
