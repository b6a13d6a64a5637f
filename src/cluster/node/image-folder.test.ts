// The folder of image archives, with a runtime that only knows which images it has.
import { deepEqual, match } from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { loadImageFolder } from './image-folder.ts'

const home = await mkdtemp(join(tmpdir(), 'coxswain-images-'))
after(() => rm(home, { recursive: true, force: true }))
const { signal } = new AbortController()

async function node() {
  const directory = await mkdtemp(join(home, 'n-'))
  const folder = join(directory, 'images')
  const clock = new VirtualClock()
  const lines: string[] = []
  const imports: string[] = []
  const images = new Set<string>()
  const ctr = async (args: readonly string[]) => {
    const file = args.at(-1) ?? ''
    imports.push(file.slice(folder.length + 1))
    if (file.includes('broken')) throw new Error('ctr: unrecognized image format')
    if (file.includes('empty')) return ''
    const name = `docker.io/library/${imports.at(-1)?.split('.')[0]}:1`
    images.add(name)
    return `unpacking ${name} (sha256:1)...done\n`
  }
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'text', level: 'info' })
  const findImage = async (name: string) => (images.has(name) ? ({ id: name } as RuntimeImage) : undefined)
  const deps = { files: nodePlatform.files, log, clock, ctr, snapshotter: 'native', runtime: { findImage } }
  return {
    folder,
    images,
    lines,
    add: async (name: string) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(join(folder, name), name)
    },
    /** Returns what it imports. */
    start: async () => {
      imports.length = 0
      await loadImageFolder(folder, join(directory, 'loaded.json'), deps, signal)
      return [...imports]
    },
  }
}

test('archives are loaded once, and again when they have changed or their images are gone', async () => {
  const { add, start, images, folder } = await node()
  deepEqual(await start(), [], 'without a folder')
  for (const name of ['b.tar', 'a.tar.gz', 'c.tgz', 'd.tar.zst', '.e.tar', 'notes.txt']) await add(name)
  deepEqual(await start(), ['a.tar.gz', 'b.tar', 'c.tgz', 'd.tar.zst'])
  deepEqual(await start(), [])
  await utimes(join(folder, 'b.tar'), 1, 1)
  deepEqual(await start(), ['b.tar'])
  images.delete('docker.io/library/c:1')
  deepEqual(await start(), ['c.tgz'])
  await rm(join(folder, 'a.tar.gz'))
  deepEqual(await start(), [])
})

const faulty: readonly (readonly [name: string, problem: RegExp])[] = [
  ['broken.tar', /an archive of images cannot be loaded.*broken.tar.*unrecognized image format/],
  ['empty.tar', /an archive of images cannot be loaded.*empty.tar holds no image for this machine/],
  ['open.tar', /an archive of images cannot be loaded.*open.tar can be written by others/],
]
for (const [name, problem] of faulty)
  test(`others are loaded beside ${name}, which is tried again at the next start`, async () => {
    const { add, start, lines, folder } = await node()
    for (const each of ['a.tar', name, 'z.tar']) await add(each)
    await chmod(join(folder, 'open.tar'), 0o666).catch(() => {})
    const first = await start()
    deepEqual(
      first.filter((each) => each !== name),
      ['a.tar', 'z.tar'],
    )
    match(lines.find((line) => line.includes('WARN')) ?? '', problem)
    deepEqual(await start(), name === 'open.tar' ? [] : [name])
  })

test('a folder that others can write is not used', async () => {
  const { add, start, lines, folder } = await node()
  await add('a.tar')
  await chmod(folder, 0o777)
  deepEqual(await start(), [])
  match(lines[0] ?? '', /the folder of images cannot be read.*can be written by others; .*chmod go-w/)
})
