// A Debian tree that the images share, unpacked by debootstrap from the archive that this machine's apt uses.
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { fetchFromSuites } from '../../../scripts/debian-archive.mjs'
import { run } from '../command.ts'
import { debianPackages } from './catalog.ts'

const binaryFolders = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin']

/** Unpacks it, unless the folder has one with the same packages. */
export function debianTree(folder: string): string {
  const [root, marker] = [join(folder, 'debian'), join(folder, 'debian.packages')]
  const packages = debianPackages.join(',')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === packages) return root
  const [archive, release] = debianArchive()
  rmSync(root, { recursive: true, force: true })
  run('debootstrap', ['--variant=minbase', `--include=${packages}`, release, root, archive])
  const isThere = (name: string) =>
    binaryFolders.some((each) => lstatSync(join(root, each, name), { throwIfNoEntry: false }) !== undefined)
  for (const name of busyboxApplets(join(root, 'bin/busybox')))
    if (!isThere(name)) symlinkSync('/bin/busybox', join(root, 'usr/bin', name))
  writeFileSync(marker, packages)
  return root
}

export const busyboxApplets = (busybox: string): string[] =>
  run(busybox, ['--list'])
    .split('\n')
    .filter((name) => name !== '')

/**
 * The program of the busybox image, from a newer Debian release: the shell of busybox 1.33 to 1.37 hides environment
 * variables whose names are no identifiers (`data-1`), which specs read.
 */
export function newerBusybox(folder: string): string {
  const target = join(folder, 'busybox')
  if (existsSync(target)) return target
  const program = { package: 'busybox-static', path: 'usr/bin/busybox' }
  const reason = (fetchFromSuites as FetchFromSuites)(
    program,
    ['forky'],
    () => target,
    () => {},
  )
  if (reason !== '') throw new Error(`busybox could not be fetched: ${reason}`)
  return target
}

type FetchFromSuites = (
  program: { readonly package: string; readonly path: string },
  suites: readonly string[],
  targetOf: () => string,
  log: (line: string) => void,
) => string

/** The archive and the release that apt is configured with. */
function debianArchive(): readonly [archive: string, release: string] {
  const format = ['--format', '$(SITE) $(RELEASE)', 'Created-By: Packages']
  const [line = ''] = run('apt-get', ['indextargets', ...format]).split('\n')
  const [archive = '', release = ''] = line.split(' ')
  if (release === '') throw new Error('apt has no package lists; run: apt-get update')
  return [archive, release]
}
