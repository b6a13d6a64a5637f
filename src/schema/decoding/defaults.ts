// withDefaults: fills in static defaults, zero values and the structs that are always there. Shares what needs no change.
import { js } from '../descriptor/code.ts'
import type { Message } from '../descriptor/field.ts'
import { engineMode, messageFunctions, type FunctionMode } from '../descriptor/message-function.ts'
import type { JsonObject } from '../json/json-value.ts'
import { composeFiller } from './defaults-closures.ts'
import { generateFiller } from './defaults-code.ts'
import type { Filler } from './unset-value.ts'

export function withDefaultsIn(mode: FunctionMode): <T extends object>(message: Message, object: T) => T {
  const fillerOf = messageFunctions<Filler>(
    { compose: composeFiller, generate: generateFiller, parameters: [js`object`] },
    mode,
  )
  return <T extends object>(message: Message, object: T) =>
    fillerOf(message).run(object as unknown as JsonObject) as unknown as T
}

export const withDefaults = withDefaultsIn(engineMode)
