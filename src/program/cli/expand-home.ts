import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander'
import { belowHome, takesKey, takesPath } from '../../base/runtime/home-folder.js'
import type { CliContext } from './cli-context.js'

/** Lets all options and arguments of a command and those below it that take a path read `~` as the home directory, and refuse an empty text. */
export function expandHome(command: Command, env: CliContext['env']): void {
  for (const option of command.options) expandIn(option, option.flags, env)
  for (const argument of command.registeredArguments) expandIn(argument, `<${argument.name()}>`, env)
  for (const child of command.commands) expandHome(child, env)
}

function expandIn(taking: Option | Argument, flag: string, env: CliContext['env']): void {
  if (takesPath(flag)) expand(taking, (text) => belowHome(text, env))
  // No key has such a part.
  else if (takesKey(flag))
    expand(taking, (text) =>
      text
        .split(',')
        .map((part) => belowHome(part, env))
        .join(','),
    )
}

function expand(taking: Option | Argument, pathIn: (text: string) => string): void {
  const parse = taking.parseArg
  taking.argParser((text: string, before: unknown) => {
    const path = pathIn(text)
    if (parse !== undefined) return parse(path, before as never) as unknown
    // It would be the working directory for one command, and no file for another.
    if (path === '') throw new InvalidArgumentError('It is empty, as a variable of a shell is that is not set.')
    return taking.variadic ? [...((before as readonly string[] | undefined) ?? []), path] : path
  })
}
