/**
 * Why a version of Node, such as `v18.20.8`, does not run the program, which wants `least`, such as `20.19`; undefined where it does. Package
 * managers only warn of such a version, and what it lacks fails later, and in other words.
 */
export function oldNodeText(version: string, least: string): string | undefined {
  const [major = 0, minor = 0] = numbersOf(version.replace(/^v/, ''))
  const [leastMajor = 0, leastMinor = 0] = numbersOf(least)
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined
  return `didledger needs Node ${least} or later, and this is ${version}: install a later one (https://nodejs.org), or put it first in PATH`
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number)
}
