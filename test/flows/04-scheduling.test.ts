// Flow 04, scheduling: a pod that fits nowhere has room made for it, waits for the room, and is bound.
import { equal } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { context, pod, startCluster } from '../../src/cluster/index.ts'
import { settled } from './page.ts'

const ctx = context(new AbortController().signal)
const golden = new URL('./golden/04-scheduling.txt', import.meta.url)
const page = new URL('../../docs/flows/04-scheduling.md', import.meta.url)

async function recordedFlow(): Promise<string> {
  await using cluster = await startCluster({ nodes: 2, seed: 4 })
  const pods = cluster.client.of(pod)
  const create = (name: string, spec: object) => {
    const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu: '6' } } }]
    return pods.create({ metadata: { name }, spec: { containers, ...spec } }, 'default', ctx)
  }
  await cluster.clock.advance('1s')
  for (const name of ['low-1', 'low-2']) await create(name, {})
  await cluster.clock.advance('5s')
  await create('vip', { priorityClassName: 'system-node-critical' })
  await cluster.clock.advance('10s')
  return settled(cluster.flow(pod, 'vip'))
}

test('the flow of a pod for which room is made is the golden one, and the page shows it', async () => {
  const drawn = await recordedFlow()
  if (process.env['RECORD_FLOWS'] !== undefined) {
    await writeFile(golden, drawn)
    const text = await readFile(page, 'utf8')
    await writeFile(
      page,
      text.replace(/```text\n[\s\S]*?```/, () => `\`\`\`text\n${drawn}\`\`\``),
    )
  }
  equal(drawn, await readFile(golden, 'utf8'))
  equal((await readFile(page, 'utf8')).includes(drawn), true, 'docs/flows/04-scheduling.md shows another diagram')
})
