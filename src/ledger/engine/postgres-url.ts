import { UserError } from '../../base/errors/rule-error.js'

/** One copy of a shard: how it is reached, and its name in messages, without user and password. */
export interface PostgresHost {
  readonly url: string
  readonly name: string
}

/** postgres://user:password@host:port,host:port/database?settings. An @ behind the first / or ? is no host's: one of these is in the password. */
const form = /^(postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?)([^@/?#\s]*)(\/[^@?#\s]*)?(\?(?:[^@=#\s]+=[^#\s]*)?)?$/

/**
 * Reads the URL of a shard, whose hosts are its primary and its replicas, in any order. A UserError does not repeat the URL: it may have a
 * password.
 */
export function postgresHosts(url: string): readonly PostgresHost[] {
  const [, begin, hosts, path = '', settings = ''] = form.exec(url) ?? []
  if (begin === undefined || hosts === undefined) {
    throw new UserError(
      'a shard is named by a URL like postgres://user@host:5432/database, with more hosts behind commas; ' +
        'characters such as @ / # ? % in a user or password are written as %40 %2F %23 %3F %25',
    )
  }
  return hosts.split(',').map((host) => ({
    url: `${begin}${host}${path}${settings}`,
    name: host === '' ? 'the local socket' : host,
  }))
}
