import { UserError } from '../../base/errors/rule-error.js'

/** Variables of the process. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Undefined for a key that does not expire. */
  readonly sessionToken: string | undefined
}

/** A place in an object store. */
export interface S3Place {
  /** As messages name it: `s3://BUCKET/PREFIX`. */
  readonly shown: string
  readonly bucket: string
  /** Beginning of every key: empty, or with a slash at its end. */
  readonly prefix: string
  /** URL of the bucket, with a slash at its end. */
  readonly url: string
  readonly region: string
  readonly credentials: S3Credentials
}

/** Beginning of the name of a place in an object store. */
export const s3Scheme = 's3://'
/** Region where none is named: stores of others than Amazon ignore it, or have this one. */
const defaultRegion = 'us-east-1'
/** @tuning bytes: a prefix; keys have 1,024, and names of files at most 512 of them */
const longestPrefix = 500

/** Reads a place, and what the variables say about its store. UserErrors name the variable, never its value where that is a secret. */
export function s3Place(target: string, variables: Variables): S3Place {
  const { bucket, prefix } = bucketAndPrefix(target)
  const region = regionOf(variables)
  return {
    shown: target.replace(/\/+$/, ''),
    bucket,
    prefix,
    region,
    url: bucketUrl(bucket, region, variables),
    credentials: credentialsOf(variables),
  }
}

function bucketAndPrefix(target: string): Pick<S3Place, 'bucket' | 'prefix'> {
  const [bucket = '', ...parts] = target.slice(s3Scheme.length).replace(/\/+$/, '').split('/')
  const wrong = (why: string) => new UserError(`${target}: ${why}; a place is s3://BUCKET or s3://BUCKET/PREFIX`, 2)
  if (!target.startsWith(s3Scheme)) throw wrong('it does not begin with s3://')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/.test(bucket)) {
    throw wrong('a bucket has 3 to 255 letters, digits, dots, - and _')
  }
  const prefix = parts.map((part) => `${part}/`).join('')
  if (parts.some((part) => ['', '.', '..'].includes(part))) throw wrong('a part of the prefix is empty, . or ..')
  // Also a lone surrogate, which has no bytes.
  if (/[\p{Cc}\p{Cs}]/u.test(prefix)) throw wrong('the prefix has characters that are not text')
  if (Buffer.byteLength(prefix) > longestPrefix) throw wrong(`the prefix has more than ${longestPrefix} bytes`)
  return { bucket, prefix }
}

function regionOf(variables: Variables): string {
  const [name, value] = firstSet(variables, ['AWS_REGION', 'AWS_DEFAULT_REGION'])
  if (value === undefined) return defaultRegion
  if (/^[a-z0-9-]{1,64}$/.test(value)) return value
  throw new UserError(`${name} is no region such as eu-central-1`, 2)
}

/** The URL of a bucket: below an endpoint by its path; at Amazon by its host, unless a dot in it would leave the certificate. */
function bucketUrl(bucket: string, region: string, variables: Variables): string {
  const [name = '', endpoint] = firstSet(variables, ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'])
  if (endpoint !== undefined) return `${checkedEndpoint(name, endpoint)}/${bucket}/`
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const isHost = /^[a-z0-9-]{3,63}$/.test(bucket)
  return isHost ? `https://${bucket}.s3.${region}.${domain}/` : `https://s3.${region}.${domain}/${bucket}/`
}

/** An endpoint without a slash at its end. */
function checkedEndpoint(name: string, text: string): string {
  const wrong = (why: string) => new UserError(`${name} ${why}; it is a URL such as https://s3.example.org`, 2)
  if (!URL.canParse(text)) throw wrong('is no URL')
  const { protocol, origin, pathname, username, password, search, hash } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') throw wrong('is not of https or http')
  // Not shown: one of them may be a secret.
  if (username !== '' || password !== '') throw wrong('has a user or a password: they belong into AWS_ACCESS_KEY_ID')
  if (search !== '' || hash !== '') throw wrong('has a part after ? or #')
  return `${origin}${pathname.replace(/\/+$/, '')}`
}

function credentialsOf(variables: Variables): S3Credentials {
  const required = (name: string) => {
    const value = variables[name]
    if (value === undefined || value === '') {
      throw new UserError(
        `${name} is not set: the store takes files from a key alone, by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
        2,
      )
    }
    return withoutControls(name, value)
  }
  const token = variables['AWS_SESSION_TOKEN']
  return {
    accessKeyId: required('AWS_ACCESS_KEY_ID'),
    secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
    sessionToken: token === undefined || token === '' ? undefined : withoutControls('AWS_SESSION_TOKEN', token),
  }
}

/** A value that can stand in a header; a message never shows it. */
function withoutControls(name: string, value: string): string {
  if (/^[\x21-\x7e]{1,8192}$/.test(value)) return value
  throw new UserError(`${name} has a space, a line break or another character that no key has`, 2)
}

function firstSet(
  variables: Variables,
  names: readonly string[],
): [name: string | undefined, value: string | undefined] {
  const name = names.find((one) => (variables[one] ?? '') !== '')
  return [name, name === undefined ? undefined : variables[name]]
}
