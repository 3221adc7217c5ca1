import { allOptions, otherVariables, sectionOf, variableOf } from '../../src/node/config/all-options.js'
import type { Option } from '../../src/base/runtime/option.js'
import { code, filled, tableRow } from './shown.js'

/** docs/configuration.md: every option of every module. */
export function configurationPage(): string {
  const sections = [...new Set(allOptions.map(sectionOf))].map((section) => {
    const rows = allOptions.filter((option) => sectionOf(option) === section).map(row)
    return `## ${section}\n\n| key | flag | environment | default | unit | meaning |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n`
  })
  const others = Object.entries(otherVariables).map(([name, meaning]) => `- ${code(name)}: ${meaning}`)
  return filled('configuration.md', { others, sections })
}

function row(option: Option): string {
  const { key, flag, description, expects, unit = '', commands, schema } = option
  const only = commands === undefined ? '' : ` Only ${commands.map(code).join(', ')}.`
  // A switch has its described effect if its value differs from the default.
  const meaning = schema.type === 'boolean' ? `\`${!option.default}\`: ${description}` : `${description}; ${expects}`
  const initial = option.default === undefined ? 'none' : code(JSON.stringify(option.default))
  return tableRow(code(key), code(flag), code(variableOf(option)), initial, unit, `${meaning}.${only}`)
}
