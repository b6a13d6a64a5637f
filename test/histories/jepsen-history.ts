// The calls about one object in the format of Jepsen's histories (EDN), which Knossos, Porcupine and others read. The object
// is a register with compare-and-set: nil is its absence. What the format cannot state, such as that a patch found an object, is
// left out, so a history that is linearizable is so in this form.
import type { Input, ObjectCall, Output } from './history.ts'

interface Line {
  readonly at: number
  readonly process: number
  readonly type: 'invoke' | 'ok' | 'fail' | 'info'
  readonly f: 'read' | 'write' | 'cas'
  readonly value: string
}

export function jepsenHistory(calls: readonly ObjectCall[]): string {
  const clients = Math.max(0, ...calls.map(({ client }) => client)) + 1
  const processes = new Map<number, number>()
  const lines: Line[] = []
  for (const { client, input, output, call, return: returned } of calls.toSorted((a, b) => a.call - b.call)) {
    const process = processes.get(client) ?? client
    const { f, value } = invocation(input)
    const type = outcome(input, output)
    lines.push({ at: call, process, type: 'invoke', f, value })
    lines.push({ at: returned, process, type, f, value: f === 'read' ? readValue(output) : value })
    // After an unknown outcome the client continues as another process.
    if (type === 'info') processes.set(client, process + clients)
  }
  return lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ process, type, f, value }, index) => {
      return `{:index ${index}, :process ${process}, :type :${type}, :f :${f}, :value ${value}}\n`
    })
    .join('')
}

function invocation(input: Input): { readonly f: Line['f']; readonly value: string } {
  switch (input.kind) {
    case 'get':
      return { f: 'read', value: 'nil' }
    case 'create':
      return { f: 'cas', value: `[nil ${text(input.version)}]` }
    case 'update':
      return { f: 'cas', value: `[${text(input.from)} ${text(input.version)}]` }
    case 'patch':
      return { f: 'write', value: text(input.version) }
    case 'delete':
      return input.from === undefined ? { f: 'write', value: 'nil' } : { f: 'cas', value: `[${text(input.from)} nil]` }
    default:
      return input satisfies never
  }
}

function outcome(input: Input, { kind }: Output): 'ok' | 'fail' | 'info' {
  if (kind === 'unknown') return 'info'
  return kind === 'conflict' || (kind === 'absent' && input.kind !== 'get') ? 'fail' : 'ok'
}

const readValue = (output: Output): string => (output.kind === 'found' ? text(output.version) : 'nil')

const text = (version: string): string => JSON.stringify(version)
