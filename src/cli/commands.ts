// Every command, in the order of the alphabet.
import type { Command } from './command.ts'
import { flow } from './commands/flow.ts'
import { up } from './commands/up.ts'

export const commands: readonly Command[] = [flow, up]
