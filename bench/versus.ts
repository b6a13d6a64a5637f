// The API server beside kube-apiserver with etcd: both are new in every round and take turns, so that they share what else the machine
// does. wrk for closed loops, Poisson arrivals for an open loop, then a list of 10,000 pods and 1,000 watchers.
//
//   npm run bench -- versus --kubernetes <folder> [--rounds 3] [--seconds 5]
import { newFolder } from '../test/process.ts'
import { originOf } from '../test/access.ts'
import { rm } from 'node:fs/promises'
import { Connection, requestText } from './api/connection.ts'
import { fanOut } from './api/fan-out.ts'
import { load } from './api/load.ts'
import { memoryMb, processorMs } from './api/process-usage.ts'
import { samplePod } from './api/sample-pod.ts'
import type { Bench } from './bench.ts'
import { kubernetesFolder } from './kubernetes-executable.ts'
import { core, loads, namespace } from './versus/loads.ts'
import { openLoop } from './versus/open-loop.ts'
import { prepare } from './versus/prepare.ts'
import { subjects, type StartedSubject, type Subject } from './versus/subjects.ts'
import { runWrk } from './wrk/wrk-load.ts'

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

const rounds = Number(optionOf('--rounds') ?? 3)
const seconds = Number(optionOf('--seconds') ?? 5)
const warmUpSeconds = 2
const podsListed = 10_000
const listRounds = 5
const watchers = 1_000
const burstChanges = 200
/** A rate that both servers sustain. */
const openLoopPerSecond = 150

/** Figures by name, each with its unit. */
type Figures = ReadonlyMap<string, Figure>

interface Figure {
  readonly value: number
  readonly unit: '/s' | 'ms' | 'µs' | 'MB'
}

const better = { '/s': 'higher', ms: 'lower', µs: 'lower', MB: 'lower' } as const

async function measure(subject: Subject): Promise<Figures> {
  await using server = await subject.start()
  const figures = new Map<string, Figure>()
  const add = (name: string, value: number, unit: Figure['unit']) => figures.set(name, { value, unit })
  const usedMs = () => server.pids.reduce((sum, pid) => sum + processorMs(pid), 0)
  const token = await prepare(server.access)
  const folder = await newFolder()
  try {
    for (const { name, connections, request } of loads) {
      const target = { origin: originOf(server.access), token, connections, folder }
      await runWrk(request, { ...target, seconds: warmUpSeconds })
      const beforeMs = usedMs()
      const measured = await runWrk(request, { ...target, seconds })
      const label = `${name}, ${connections} connection${connections === 1 ? '' : 's'}`
      add(label, measured.perSecond, '/s')
      add(`${label}: p50`, measured.p50Ms, 'ms')
      add(`${label}: p99`, measured.p99Ms, 'ms')
      add(`${label}: p99.9`, measured.p999Ms, 'ms')
      add(`${label}: CPU each`, ((usedMs() - beforeMs) * 1000) / measured.requests, 'µs')
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  await measureOpenLoop(server, add)
  await measureList(server, add)
  const events = await fanOut(
    server.access,
    `/api/v1/namespaces/kube-public/configmaps`,
    watchers,
    burstChanges,
    usedMs,
  )
  add(`${watchers} watchers, burst: events`, events.deliveriesPerSecond, '/s')
  add(`${watchers} watchers, burst: CPU of an event`, events.processorMicros, 'µs')
  add(`${watchers} watchers, one change after the other: p99`, events.p99Ms, 'ms')
  add(
    'resident memory afterwards, with the store',
    server.pids.reduce((sum, pid) => sum + memoryMb(pid), 0),
    'MB',
  )
  return figures
}

type Add = (name: string, value: number, unit: Figure['unit']) => void

async function measureOpenLoop({ access }: StartedSubject, add: Add): Promise<void> {
  const times = await openLoop(access, openLoopPerSecond, seconds * 2, (index) =>
    requestText('POST', `${core}/configmaps`, { metadata: { name: `open-${index}` }, data: { mode: 'production' } }),
  )
  for (const part of [0.5, 0.99, 0.999])
    add(
      `create ConfigMaps, ${openLoopPerSecond}/s at random times: p${part * 100}`,
      times[Math.floor(part * (times.length - 1))] ?? 0,
      'ms',
    )
}

async function measureList({ access }: StartedSubject, add: Add): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`
  const one = await Connection.open(access)
  await one.send(requestText('DELETE', `${path}?gracePeriodSeconds=0`))
  await load(access, 16, podsListed, (index) => requestText('POST', path, samplePod(`listed-${index}`)))
  const times: number[] = []
  for (let round = 0; round < listRounds; round++) {
    const begin = performance.now()
    await one.send(requestText('GET', `${path}?resourceVersion=0`))
    times.push(performance.now() - begin)
  }
  one.close()
  add(`list ${podsListed} Pods: first`, times[0] ?? 0, 'ms')
  add(`list ${podsListed} Pods: median`, median(times), 'ms')
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

const shown = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(2))

/** How many times ours is better. */
const ratio = (ours: number, theirs: number, unit: Figure['unit']): number =>
  better[unit] === 'higher' ? ours / theirs : theirs / ours

function rows(names: readonly string[], measured: readonly (readonly Figures[])[]): readonly string[] {
  const [ours = []] = measured
  const unitOf = (name: string): Figure['unit'] => ours[0]?.get(name)?.unit ?? 'ms'
  const medianOf = (of: readonly Figures[], name: string) =>
    median(of.map((figures) => figures.get(name)?.value ?? NaN))
  return [
    `| | ${names.join(' | ')} | times better |`,
    `|---|${'---|'.repeat(names.length + 1)}`,
    ...[...(ours[0]?.keys() ?? [])].map((name) => {
      const unit = unitOf(name)
      const values = measured.map((of) => medianOf(of, name))
      const [own = NaN, other = NaN] = values
      const cells = values.map((value) => (unit === '/s' ? `${shown(value)}/s` : `${shown(value)} ${unit}`))
      return `| ${name} | ${cells.join(' | ')} | ${ratio(own, other, unit).toFixed(1)} |`
    }),
  ]
}

export const versusBench: Bench = {
  name: 'versus',
  async *run() {
    const folder = kubernetesFolder()
    if (folder === undefined) throw new Error('--kubernetes <folder> names the folder of kube-apiserver and etcd')
    const compared = subjects(folder)
    const measured: Figures[][] = compared.map(() => [])
    for (let round = 0; round < rounds; round++)
      for (const [at, subject] of compared.entries()) measured[at]?.push(await measure(subject))
    yield `medians of ${rounds} rounds, each load for ${seconds} s after ${warmUpSeconds} s`
    yield* rows(
      compared.map(({ name }) => name),
      measured,
    )
  },
}
