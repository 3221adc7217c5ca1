import type { CredentialOptions, DocumentQuery, ResolveOptions } from './resolution.js'

/** Members of what resolvers are asked; their values are judged by the node. */
const proof = ['proof', 'depth', 'height'] as const

export const resolveMembers = [
  'all',
  'skip',
  'limit',
  'context',
  'versionId',
  'versionTime',
  'versionHeight',
  ...proof,
] as const satisfies readonly (keyof ResolveOptions)[]

export const queryMembers = [
  'service',
  'credential',
  'query',
  'skip',
  'limit',
  'context',
] as const satisfies readonly (keyof DocumentQuery)[]

export const credentialMembers = ['issuer', ...proof] as const satisfies readonly (keyof CredentialOptions)[]

export const pageMembers = ['skip', 'limit'] as const
