/** Reads the claims of a credential that are typed in a form. Pure. */

/** Texts by name, of lines `name=value`; empty lines are left out. Throws an Error that names a line of another form. */
export function claimsIn(text: string): Record<string, string> {
  const claims = new Map<string, string>()
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name === '') throw new Error(`A claim has the form name=value, which this line has not: ${line}`)
    if (claims.has(name)) throw new Error(`The claim ${name} is given twice.`)
    claims.set(name, value)
  }
  if (claims.size === 0) throw new Error('A credential says something: give a claim, as name=value.')
  return Object.fromEntries(claims)
}
