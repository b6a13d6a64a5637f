// How soon a cluster on this machine is ready, and what it takes while nothing happens. Wall time is what a person waits;
// processor time says more on a machine that others use too.
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { newFolder, startUpIn } from '../test/process.ts'
import type { Bench } from './bench.ts'

const rounds = 5
const settleMs = 5_000
const idleMs = 10_000
const tickMs = 10

async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}

const residentMb = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

async function startTimes(store: string): Promise<string> {
  const folder = await newFolder()
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await using running = await startUpIn(folder, '--store', store)
    if (round > 0) times.push(Number(/ready in (\d+) ms/.exec(running.readyLine)?.[1]))
  }
  await rm(folder, { recursive: true })
  const [best, ...rest] = times.toSorted((a, b) => a - b)
  return `exec → ready, ${store}: ${best} ms at best, ${rest[Math.floor(rest.length / 2)]} ms in the middle of ${rounds} further starts`
}

async function idle(): Promise<string> {
  const folder = await newFolder()
  try {
    await using running = await startUpIn(folder)
    await sleep(settleMs)
    const before = await processorMs(running.pid)
    await sleep(idleMs)
    const share = ((await processorMs(running.pid)) - before) / idleMs
    const resident = await residentMb(running.pid)
    return `idle with one simulated node on SQLite: ${(share * 100).toFixed(1)} % of a core, ${resident.toFixed(0)} MB resident`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const startBench: Bench = {
  name: 'start',
  run: async () => [await startTimes('memory'), await startTimes('sqlite'), await idle()],
}
