// Flags of upstream's programs that change nothing here, so that command lines written for them work.
import type { CommandOption } from '../command/command.ts'

const help = 'accepted, no effect'
const section = 'Others'

export const withoutEffect = (value: string) =>
  ({ type: 'string', value, help, section }) as const satisfies CommandOption

export const switchWithoutEffect = { type: 'boolean', help, section } as const satisfies CommandOption
