// withDefaults: fills in static defaults, zero values and the structs that are always there. Shares what needs no change.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { messageFunctions } from '../descriptor/message-function.ts'
import type { JsonObject } from '../json/json-value.ts'
import { generateFiller } from './defaults-code.ts'
import type { Filler } from './unset-value.ts'

const fillerOf = messageFunctions<Filler>(generateFiller, [js`object`])

export const withDefaults = <T extends object>(message: Message, object: T): T =>
  fillerOf(message).run(object as unknown as JsonObject) as unknown as T
