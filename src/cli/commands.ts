// Every command, in the order of the alphabet.
import type { Command } from './command.ts'
import { controllerManager } from './commands/controller-manager.ts'
import { flow } from './commands/flow.ts'
import { scheduler } from './commands/scheduler.ts'
import { up } from './commands/up.ts'
import { why } from './commands/why.ts'

export const commands: readonly Command[] = [controllerManager, flow, scheduler, up, why]
