import { equal, rejects } from 'node:assert/strict'
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { KernelSettings } from './kernel-settings.ts'
import { nodeKernelSettings } from './node-kernel-settings.ts'
import { SimulatedKernelSettings } from './simulated-kernel-settings.ts'

const folder = await mkdtemp(join(tmpdir(), 'coxswain-settings-'))
after(() => rm(folder, { recursive: true }))
await mkdir(join(folder, 'net'))
await writeFile(join(folder, 'net/forward'), '0')
const simulated = new SimulatedKernelSettings({ 'net/forward': '0' })

const drivers: readonly (readonly [string, KernelSettings, read: () => Promise<string | undefined>])[] = [
  ['node', nodeKernelSettings(folder), () => readFile(join(folder, 'net/forward'), 'utf8')],
  ['simulated', simulated, () => Promise.resolve(simulated.values.get('net/forward'))],
]

for (const [name, settings, read] of drivers)
  test(`kernel settings, ${name}: an existing setting is set, a missing one is reported`, async () => {
    equal(await settings.set('net/forward', '1'), true)
    equal(await read(), '1')
    equal(await settings.set('net/missing', '1'), false)
  })

test('kernel settings, node: other failures are errors', () =>
  rejects(nodeKernelSettings(folder).set('net', '1'), { code: 'EISDIR' }))
