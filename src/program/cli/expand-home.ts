import type { Argument, Command, Option } from 'commander'
import { belowHome, takesPath } from '../../base/runtime/home-folder.js'
import type { CliContext } from './cli-context.js'

/** Lets all options and arguments of a command and those below it that take a path read `~` as the home directory. */
export function expandHome(command: Command, env: CliContext['env']): void {
  for (const option of command.options) if (takesPath(option.flags)) expandIn(option, env)
  for (const argument of command.registeredArguments) if (takesPath(`<${argument.name()}>`)) expandIn(argument, env)
  for (const child of command.commands) expandHome(child, env)
}

function expandIn(taking: Option | Argument, env: CliContext['env']): void {
  const parse = taking.parseArg
  taking.argParser((text: string, before: unknown) => {
    const path = belowHome(text, env)
    if (parse !== undefined) return parse(path, before as never) as unknown
    return taking.variadic ? [...((before as readonly string[] | undefined) ?? []), path] : path
  })
}
