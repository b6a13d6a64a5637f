// Durability as a trace of system calls: the log with a write was synced before the write was acknowledged.
import { equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const writes = 200
const program = fileURLToPath(new URL('./acknowledging-writer.ts', import.meta.url))

/** The relevant calls of a trace in order; interrupted calls are joined. */
type Step =
  | { readonly kind: 'logged'; readonly numbers: readonly number[]; readonly ended: number }
  | { readonly kind: 'synced'; readonly begun: number }
  | { readonly kind: 'acknowledged'; readonly numbers: readonly number[] }

/** `<pid> call(args <unfinished ...>` and `<pid> <... call resumed>rest` are one call, which takes place at its end. */
function* calls(trace: string): Generator<{ text: string; begun: number; ended: number }> {
  const unfinished = new Map<string, { text: string; begun: number }>()
  for (const [place, line] of trace.split('\n').entries()) {
    const [, pid = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const begin = /^(.*) <unfinished \.\.\.>$/.exec(text)?.[1]
    if (begin !== undefined) {
      unfinished.set(pid, { text: begin, begun: place })
      continue
    }
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(text)?.[1]
    const before = unfinished.get(pid)
    if (rest !== undefined && before !== undefined)
      yield { text: before.text + rest, begun: before.begun, ended: place }
    else yield { text, begun: place, ended: place }
  }
}

const numbersIn = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, number]) => Number(number))

/** A sync covers what was logged before it began. */
function* steps(trace: string): Generator<Step> {
  for (const { text, begun, ended } of calls(trace)) {
    if (/^pwrite64\(\d+<[^>]*-wal>/.test(text))
      yield { kind: 'logged', numbers: numbersIn(text, /marker-(\d+)-/g), ended }
    if (/^f(data)?sync\(\d+<[^>]*-wal>.* = 0$/.test(text)) yield { kind: 'synced', begun }
    if (text.startsWith('write(1<')) yield { kind: 'acknowledged', numbers: numbersIn(text, /ack (\d+)/g) }
  }
}

/** The acknowledgements that were printed before a sync had made their write durable. */
function early(trace: string): { acknowledged: number[]; early: number[] } {
  const loggedAt = new Map<number, number>()
  const acknowledged: number[] = []
  const premature: number[] = []
  let syncBegun = -1
  for (const [place, step] of [...steps(trace)].entries())
    switch (step.kind) {
      case 'logged':
        for (const number of step.numbers) if (!loggedAt.has(number)) loggedAt.set(number, step.ended)
        break
      case 'synced':
        syncBegun = Math.max(syncBegun, step.begun)
        break
      case 'acknowledged':
        for (const number of step.numbers) {
          acknowledged.push(number)
          if ((loggedAt.get(number) ?? Infinity) > syncBegun) premature.push(number)
        }
        break
      default:
        throw new Error(`step ${place}: ${step satisfies never}`)
    }
  return { acknowledged, early: premature }
}

test('the trace reader detects an acknowledgement before its sync', () => {
  const wal = '7</tmp/store.db-wal>'
  const good = [
    `1 pwrite64(${wal}, "marker-1-"...) = 9`,
    `1 fdatasync(${wal}) = 0`,
    '2 write(1<pipe:[1]>, "ack 1\\n", 6) = 6',
  ]
  equal(early(good.join('\n')).early.length, 0)
  equal(early(good.toReversed().join('\n')).early.length, 1)
  const late = [
    `1 pwrite64(${wal}, "marker-1-"...) = 9`,
    `1 fdatasync(${wal} <unfinished ...>`,
    '2 write(1<pipe:[1]>, "ack 1\\n", 6) = 6',
    '1 <... fdatasync resumed>) = 0',
  ]
  equal(early(late.join('\n')).early.length, 1)
  const failed = good.map((line) => line.replace('= 0', '= -1 EIO (Input/output error)'))
  equal(early(failed.join('\n')).early.length, 1)
})

test('the log is synced before a write is acknowledged', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-strace-'))
  const trace = join(directory, 'trace')
  const options = ['-f', '-y', '-s', '8192', '-e', 'trace=pwrite64,write,fsync,fdatasync', '-o', trace]
  const child = [process.execPath, program, join(directory, 'store.db'), String(writes)]
  const { error, status, stderr } = spawnSync('strace', [...options, ...child], { encoding: 'utf8' })
  equal(error, undefined, `strace cannot be run (${error?.message}); set-up installs it: apt-get install strace`)
  equal(status, 0, stderr)
  const found = early(readFileSync(trace, 'utf8'))
  equal(new Set(found.acknowledged).size, writes)
  equal(found.early.length, 0, `acknowledged before the sync: ${found.early.join()}`)
  const syncs = [...steps(readFileSync(trace, 'utf8'))].filter(({ kind }) => kind === 'synced').length
  ok(syncs < writes, `${writes} writes shared ${syncs} syncs`)
  rmSync(directory, { recursive: true })
})
