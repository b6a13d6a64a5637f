// A Debian tree that the images share, unpacked by debootstrap from the archive that this machine's apt uses.
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { debianPackages } from './catalog.ts'

const binaryFolders = ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin']

/** Unpacks it, unless the folder has one with the same packages. */
export function debianTree(folder: string): string {
  const root = join(folder, 'debian')
  const marker = join(folder, 'debian.packages')
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

/** The archive and the release that apt is configured with. */
function debianArchive(): readonly [archive: string, release: string] {
  const format = ['--format', '$(SITE) $(RELEASE)', 'Created-By: Packages']
  const [line = ''] = run('apt-get', ['indextargets', ...format]).split('\n')
  const [archive = '', release = ''] = line.split(' ')
  if (release === '') throw new Error('apt has no package lists; run: apt-get update')
  return [archive, release]
}
