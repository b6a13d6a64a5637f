// coxswain completion: prints a script with which a shell completes commands, flags and values.
import { lookup } from '../../base/collections/lookup.ts'
import { defineCommand, UsageError, type Command } from '../command/command.ts'
import { bashScript } from '../completion/bash.ts'
import { completions } from '../completion/completions.ts'
import { fishScript } from '../completion/fish.ts'
import { zshScript } from '../completion/zsh.ts'

const scripts = { bash: bashScript, fish: fishScript, zsh: zshScript }
const shells = Object.keys(scripts).join('|')

/** `commands` contains this one. */
export const completion = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'completion',
    summary: 'prints a script with which a shell completes commands, flags and values',
    operands: shells,
    options: {},
    run({ operands: [shell] }, { out }) {
      const script = lookup(scripts, shell ?? '')
      if (script === undefined) throw new UsageError(`the operand is one of ${shells}`)
      out(script(completions(commands())))
      return Promise.resolve(0)
    },
  })
