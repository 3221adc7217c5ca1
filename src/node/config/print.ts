import { nameOf, sectionOf } from './all-options.js'
import type { Config, ConfigEntry } from './config.js'

/** The configuration as JSON that can be used as a file, without options that are not set. */
export function configJson({ settings }: Config): string {
  const sections = sectionsOf(settings).flatMap(({ name, settings: members }) => {
    const set = members.filter(({ value }) => value !== undefined)
    return set.length === 0
      ? []
      : [[name, Object.fromEntries(set.map((member) => [nameOf(member.option), member.value]))]]
  })
  return `${JSON.stringify(Object.fromEntries(sections), null, 2)}\n`
}

/** The configuration as JSON5 that can be used as a file, each value with its source. */
export function configText(config: Config): string {
  const { command, settings } = config
  const lines = sectionsOf(settings).flatMap(({ name, settings: members }) => [
    `  ${name}: {`,
    ...members.map((member) => `    ${memberLine(config, member)}`),
    '  },',
  ])
  return `// What didledger ${command} would run with.\n{\n${lines.join('\n')}\n}\n`
}

function memberLine(config: Config, member: ConfigEntry): string {
  const { value, option } = member
  const name = nameOf(option)
  if (value === undefined) return `// ${name} is not set`
  // Control characters in a source's name must not end the comment.
  const from = config.sourceOf(option).replace(/[^\P{C}]|[\u2028\u2029]/gu, '?')
  return `${name}: ${JSON.stringify(value)}, // ${from}`
}

function sectionsOf(settings: readonly ConfigEntry[]): { name: string; settings: ConfigEntry[] }[] {
  const names = new Set(settings.map(({ option }) => sectionOf(option)))
  return [...names].map((name) => ({
    name,
    settings: settings.filter(({ option }) => sectionOf(option) === name),
  }))
}
