import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { archiveVolumes, unpackVolumes, volumesOf } from './volume-archive.ts'

const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'coxswain-volumes-'))
after(() => rmSync(folder, { recursive: true, force: true }))

let directories = 0
/** A data directory beside a file of the machine that nothing may change. */
function newDirectory() {
  const directory = join(folder, `data-${++directories}`)
  const outside = join(folder, `outside-${directories}`)
  mkdirSync(`${directory}/node`, { recursive: true })
  mkdirSync(outside)
  writeFileSync(`${outside}/file`, 'of the machine')
  const isUntouched = () =>
    readdirSync(outside).join() === 'file' && readFileSync(`${outside}/file`, 'utf8') === 'of the machine'
  return { directory, outside, isUntouched }
}

test('what a container has made in its volume is archived and unpacked as it is, and nothing is followed', async () => {
  const { directory, outside, isUntouched } = newDirectory()
  const volume = `${volumesOf(directory)}/pvc-1`
  mkdirSync(volume, { recursive: true })
  const names = ['--checkpoint-action=exec=false', '-rf', 'a\nb', '\\..\\x', '…', ' ', '$(id)', 'x'.repeat(255)]
  for (const name of names) writeFileSync(join(volume, name), name)
  for (const [name, target] of [
    ['absolute', outside],
    ['relative', '../../../../outside'],
    ['file', `${outside}/file`],
    ['itself', 'itself'],
  ] as const)
    symlinkSync(target, join(volume, name))
  execFileSync('mkfifo', [join(volume, 'fifo')])
  const archive = join(folder, 'contents.tar')
  equal(await archiveVolumes(directory, archive, signal), false)
  const listed = execFileSync('tar', ['--list', '--file', archive], { encoding: 'utf8' })
  equal(listed.includes('of the machine') || listed.includes('outside-1/file/'), false)
  const before = readdirSync(volume).toSorted()
  const volumes = await unpackVolumes(archive, directory, signal)
  await volumes.replace(false)
  deepEqual(readdirSync(volume).toSorted(), before)
  for (const name of names) equal(readFileSync(join(volume, name), 'utf8'), name)
  for (const name of ['absolute', 'relative', 'file', 'itself'])
    equal(lstatSync(join(volume, name)).isSymbolicLink(), true)
  equal(lstatSync(join(volume, 'fifo')).isFIFO(), true)
  equal(isUntouched(), true)
})

type Member = readonly [name: string, link?: string | undefined]

const archives: readonly (readonly [why: string, members: (outside: string) => readonly Member[]])[] = [
  ['parents', () => [['local-path/../../../outside-N/file']]],
  ['parents at its start', () => [['../../outside-N/file']]],
  ['an absolute path', (outside) => [[`${outside}/file`]]],
  ['a file below a link', (outside) => [['local-path/v', outside], ['local-path/v/file']]],
  ['a file below a link that is relative', () => [['local-path/v', '../../../outside-N'], ['local-path/v/file']]],
  ['a file through a link', (outside) => [['local-path/v', `${outside}/file`], ['local-path/v']]],
  ['a link in the place of the volumes', (outside) => [['local-path', outside], ['local-path/file']]],
  ['only a link in the place of the volumes', (outside) => [['local-path', outside]]],
  ['a file in the place of the volumes', () => [['local-path']]],
  ['nothing in it', () => []],
]

for (const [why, members] of archives)
  test(`an archive with ${why} changes nothing outside of the volumes`, async () => {
    const { directory, outside, isUntouched } = newDirectory()
    const archive = join(folder, `${directories}.tar`)
    writeFileSync(
      archive,
      tarOf(
        members(outside).map(([name, link]) => [
          name.replace('-N', `-${directories}`),
          link?.replace('-N', `-${directories}`),
        ]),
      ),
    )
    try {
      const volumes = await unpackVolumes(archive, directory, signal)
      await volumes.replace(false)
    } catch (error) {
      match(String(error), /the volumes cannot be unpacked/)
      equal(existsSync(`${directory}/node/local-path.fresh`), false)
    }
    equal(isUntouched(), true)
    equal(lstatSync(volumesOf(directory), { throwIfNoEntry: false })?.isSymbolicLink() ?? false, false)
  })

test('an archive that is none is reported, and nothing of it remains', async () => {
  const { directory } = newDirectory()
  const archive = join(folder, 'none.tar')
  writeFileSync(archive, 'x'.repeat(2_000))
  await rejects(unpackVolumes(archive, directory, signal), /the volumes cannot be unpacked: tar/)
  equal(existsSync(`${directory}/node/local-path.fresh`), false)
})

/** An archive in the format ustar: files with the content `attack`, and symbolic links. */
function tarOf(members: readonly Member[]): Uint8Array {
  const blocks = members.map(([name, link]) => {
    const content = link === undefined ? 'attack' : ''
    const header = Buffer.alloc(512)
    header.write(name, 0, 100)
    header.write('0000644\0'.padEnd(24, '0'), 100)
    header.write(`${content.length.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124)
    header.write('        ', 148)
    header.write(link === undefined ? '0' : '2', 156)
    header.write(link ?? '', 157, 100)
    header.write('ustar\x0000', 257)
    header.write(
      `${header
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    const body = Buffer.alloc(content === '' ? 0 : 512)
    body.write(content)
    return Buffer.concat([header, body])
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}
