// The machine loses power at any moment: every acknowledged write is on the disk, and every transaction is complete or
// absent. One run of the store is traced, with writers, compactions, a checkpoint and a restart; each crash rebuilds
// the content of the disk at one position of that trace (simulated-disk.ts). COXSWAIN_LONG=1 tries 10,000 positions.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { seededRandom, type Random } from '../../src/base/random/random.ts'
import { hasFile, loadFile } from '../../src/store/sqlite/load-file.ts'
import { bytesOf, callsOf, hexOf, SimulatedDisk, tracedCalls, type Call } from './simulated-disk.ts'

const crashes = process.env['COXSWAIN_LONG'] === '1' ? 10_000 : 150
const transactions = 600
const program = fileURLToPath(new URL('./transaction-writer.ts', import.meta.url))
/** Long enough for every value that the program writes. */
const tracedBytesMax = 65_536

interface Written {
  readonly revision: number
  readonly keys: readonly string[]
}

/** The acknowledgements that the program printed: `ack <revision> <keys>`. */
const acknowledgedIn = ({ name, args }: Call): Written[] => {
  if (name !== 'write' || !args.startsWith('1<')) return []
  const lines = bytesOf(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '').toString()
  return Array.from(lines.matchAll(/^ack (\d+) (.+)$/gm), ([, revision, keys = '']) => ({
    revision: Number(revision),
    keys: keys.split(','),
  }))
}

/** Every change in the file, by revision. */
async function found(path: string): Promise<{ compacted: number; keys: Map<number, string[]> }> {
  const keys = new Map<number, string[]>()
  if (!hasFile(path)) return { compacted: 0, keys }
  const { compacted } = await loadFile(path, (piece) => {
    for (const { revision, key } of piece) keys.set(revision, [...(keys.get(revision) ?? []), key])
  })
  return { compacted, keys }
}

/** The differences between the file and the acknowledged writes. */
async function lossesIn(path: string, acknowledged: readonly Written[]): Promise<string[]> {
  const { compacted, keys } = await found(path)
  const newest = new Map<string, number>()
  for (const [revision, changed] of keys)
    for (const key of changed) newest.set(key, Math.max(newest.get(key) ?? 0, revision))
  const lost = acknowledged.flatMap(({ revision, keys: written }) =>
    written
      .filter((key) => !keys.get(revision)?.includes(key))
      // A compaction removes a change that a later change of the same key has replaced.
      .filter((key) => revision > compacted || (newest.get(key) ?? 0) <= revision)
      .map((key) => `${key} of revision ${revision} is lost`),
  )
  const torn = [...keys].flatMap(([revision, changed]) => {
    const parts = Number(changed[0]?.split('/')[2])
    return revision > compacted && changed.length !== parts
      ? [`of revision ${revision} there are ${changed.length} of ${parts} changes`]
      : []
  })
  return [...lost, ...torn]
}

const directory = mkdtempSync(join(tmpdir(), 'coxswain-power-'))
const data = join(directory, 'data')
const image = join(directory, 'image')
let calls: readonly Call[] = []
before(() => (calls = traced()))
after(() => rmSync(directory, { recursive: true }))

/** What the disk may contain at this position, as files. */
function writeImage(disk: SimulatedDisk, random: Random): void {
  rmSync(image, { recursive: true, force: true })
  mkdirSync(image)
  for (const [name, content] of disk.afterPowerLoss(random)) writeFileSync(join(image, name), content)
}

function traced(): Call[] {
  const trace = join(directory, 'trace')
  mkdirSync(data)
  const options = ['-f', '-y', '-xx', '-s', String(tracedBytesMax), '-e', `trace=${tracedCalls}`, '-o', trace]
  const run = (number: number): Call[] => {
    const child = [process.execPath, program, join(data, 'store.db'), String(transactions), String(number)]
    const { error, status, stderr } = spawnSync('strace', [...options, ...child], { encoding: 'utf8' })
    equal(error, undefined, `strace cannot be run (${error?.message}); set-up installs it: apt-get install strace`)
    equal(status, 0, stderr)
    return callsOf(readFileSync(trace, 'utf8'))
  }
  const first = run(1)
  const end = (first.at(-1)?.ended ?? 0) + 1
  // The second run opens the store of the first.
  return [...first, ...run(2).map((call) => ({ ...call, begun: call.begun + end, ended: call.ended + end }))]
}

test(`every acknowledged transaction survives ${crashes} crashes of the machine completely`, async () => {
  ok(
    calls.some(
      ({ name, args }) => name === 'pwrite64' && !args.includes(hexOf('-wal')) && args.includes(hexOf('store.db')),
    ),
    'the log was folded into the file',
  )
  const random = seededRandom(crashes)
  const places = Array.from({ length: crashes }, () => random.below(calls.length)).toSorted((a, b) => a - b)
  const disk = new SimulatedDisk(data)
  const acknowledged: Written[] = []
  let done = 0
  for (const [crash, place] of places.entries()) {
    for (; done <= place; done++) {
      const call = calls[done] as Call
      disk.apply(call)
      acknowledged.push(...acknowledgedIn(call))
    }
    writeImage(disk, random)
    deepEqual(await lossesIn(join(image, 'store.db'), acknowledged), [], `crash ${crash} behind call ${place}`)
  }
  ok(acknowledged.length > transactions, `${acknowledged.length} transactions were acknowledged`)
})

test('a disk that reports a sync without syncing is detected', async () => {
  const disk = new SimulatedDisk(data)
  const last = calls.findLastIndex((call) => acknowledgedIn(call).length > 0)
  const syncs = calls.slice(0, last).flatMap(({ name }, place) => (/^f(data)?sync$/.test(name) ? [place] : []))
  const lied = new Set(syncs.slice(-10))
  const acknowledged: Written[] = []
  for (const [place, call] of calls.slice(0, last + 1).entries()) {
    if (!lied.has(place)) disk.apply(call)
    acknowledged.push(...acknowledgedIn(call))
  }
  writeImage(disk, seededRandom(1))
  const losses = await lossesIn(join(image, 'store.db'), acknowledged)
  ok(losses.length > 0, 'acknowledged transactions are missing')
})
