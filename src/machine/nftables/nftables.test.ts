import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { commandText } from '../../base/net/command-text.ts'
import { realClock } from '../../base/time/clock.ts'
import type { InteractivePrograms, Processes } from '../../platform/process/processes.ts'
import { NftProgram } from './nft-program.ts'
import { nftablesContract } from './nftables-contract.suite.ts'
import { SimulatedNftables } from './simulated-nftables.ts'

const invalid = commandText`delete table inet none`
const error = ['Error: No such file or directory', invalid, '                  ^^^^']

nftablesContract(
  'simulated nftables',
  () => {
    const nftables = new SimulatedNftables()
    nftables.respond = (commands) =>
      commands.includes(invalid) ? { kind: 'failed', messages: ['No such file or directory'] } : { kind: 'applied' }
    return nftables
  },
  invalid,
)

/** What nft prints for a set. */
const listed: Record<string, readonly string[]> = {
  empty: ['table inet t {', '\tset empty {', '\t\ttypeof ip saddr', '\t}', '}'],
  clients: [
    'table inet t {',
    '\tset clients {',
    '\t\ttimeout 3h',
    '\t\telements = { 10.0.0.1 expires 2h59m59s976ms,',
    '\t\t\t     10.0.0.2 expires 1m }',
    '\t}',
    '}',
  ],
}

/** Programs that print what nft prints. */
function scriptedNft() {
  const lines: string[] = []
  const runs: (readonly string[])[] = []
  let kill = () => {}
  const processes: Pick<Processes, 'run'> & InteractivePrograms = {
    run(_command, args, { input }) {
      runs.push(args)
      const isInvalid = args[0] !== '-f' || String(input).includes(invalid)
      return Promise.resolve({ code: isInvalid ? 1 : 0, stdout: '', stderr: isInvalid ? error.join('\n') : '' })
    },
    startInteractive(_command, _args, _options, onLine) {
      const ended = Promise.withResolvers<number>()
      kill = () => ended.resolve(137)
      return {
        pid: 1,
        ended: ended.promise,
        kill,
        write(text) {
          for (const line of text.trimEnd().split('\n')) {
            lines.push(line)
            if (line.startsWith('describe')) onLine('payload expression, datatype ipv4_addr (IPv4 address), 32 bits')
            else if (line.includes('hang')) return
            else if (line.startsWith('list set'))
              for (const each of listed[line.split(' ').at(-1) ?? ''] ?? error) onLine(each)
            else if (line.includes(invalid)) for (const each of error) onLine(each)
          }
        },
      }
    },
  }
  return { nftables: new NftProgram({ processes, clock: realClock }), lines, runs, kill: () => kill() }
}

nftablesContract('nft', () => scriptedNft().nftables, invalid)

test('a transaction is one line', async () => {
  const { nftables, lines } = scriptedNft()
  await nftables.apply([commandText`add table inet a`, commandText`add table inet b`])
  deepEqual(lines, ['add table inet a; add table inet b', 'describe ip saddr'])
})

test('a large transaction has a process of its own', async () => {
  const { nftables, lines, runs } = scriptedNft()
  const commands = Array.from({ length: 20_000 }, (_, index) => commandText`add table inet t${index}`)
  equal((await nftables.apply(commands)).kind, 'applied')
  deepEqual([lines, runs], [[], [['-f', '-']]])
  deepEqual(await nftables.apply([...commands, invalid]), { kind: 'failed', messages: ['No such file or directory'] })
})

test('a transaction fails if nft ends, and the next one starts it again', async () => {
  const { nftables, kill } = scriptedNft()
  await nftables.apply([commandText`add table inet a`])
  const hanging = nftables.apply([commandText`hang`])
  await Promise.resolve().then(() => Promise.resolve())
  kill()
  deepEqual(await hanging, { kind: 'failed', messages: ['nft has ended'] })
  deepEqual(await nftables.apply([commandText`add table inet a`]), { kind: 'applied' })
})

test('the elements of a set', async () => {
  const { nftables } = scriptedNft()
  deepEqual(await nftables.elements(commandText`inet t`, commandText`clients`), [
    '10.0.0.1 expires 2h59m59s976ms',
    '10.0.0.2 expires 1m',
  ])
  deepEqual(await nftables.elements(commandText`inet t`, commandText`empty`), [])
  equal(await nftables.elements(commandText`inet t`, commandText`none`), undefined)
})
