import { buildCommit, packageVersion } from '../../base/runtime/package-files.js'

/** Version, commit where it is known, and Node: `didledger 0.1.0 (commit 0123…, Node v22.0.0)`. */
export function versionText(): string {
  return `didledger ${packageVersion()} (commit ${buildCommit() ?? 'unknown'}, Node ${process.version})`
}

/** Whether a command line asks for the version; whatever follows is not looked at. */
export function asksVersion([first]: readonly string[]): boolean {
  return first === '--version' || first === '-V'
}
