// The program of the busybox image, built from Debian's source package as the original is: the defaults of its authors,
// linked statically. Debian's own build differs from them: its shell hides environment variables such as `data-1`.
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
// @ts-expect-error -- plain JavaScript: it runs before the packages are there
import { fetchSource } from '../../../scripts/debian-archive.mjs'
import { run } from '../command.ts'

const version = '1.37.0'
const debianSuite = 'trixie'

/** Options that differ from the defaults. */
const options: ReadonlyMap<string, boolean> = new Map([
  ['STATIC', true],
  // Its instructions are those of x86, and it does not compile for other processors.
  ['SHA1_HWACCEL', false],
  // It does not compile with the headers of Linux 6.8 and newer.
  ['TC', false],
])

/** Builds it, unless the folder has it. */
export function builtBusybox(folder: string): string {
  const target = join(folder, `busybox-${version}`)
  if (existsSync(target)) return target
  const work = mkdtempSync(join(folder, 'busybox-source-'))
  try {
    const reason = (fetchSource as FetchSource)('busybox', debianSuite, work)
    if (reason !== undefined) throw new Error(`the source of busybox could not be fetched: ${reason}`)
    run('tar', ['-xf', join(work, `busybox_${version}.orig.tar.bz2`), '-C', work, '--strip-components=1'])
    run('make', ['-C', work, 'defconfig'])
    const file = join(work, '.config')
    writeFileSync(file, withOptions(readFileSync(file, 'utf8'), options))
    run('make', ['-C', work, `-j${availableParallelism()}`, 'busybox'])
    renameSync(join(work, 'busybox'), target)
    return target
  } finally {
    rmSync(work, { recursive: true })
  }
}

type FetchSource = (name: string, suite: string, folder: string) => string | undefined

/** The configuration with these options; one that the configuration does not have is an error. */
export function withOptions(configuration: string, changes: ReadonlyMap<string, boolean>): string {
  let text = configuration
  for (const [name, isOn] of changes) {
    const line = new RegExp(`^(?:CONFIG_${name}=.*|# CONFIG_${name} is not set)$`, 'm')
    if (!line.test(text)) throw new Error(`busybox has no option ${name}`)
    text = text.replace(line, isOn ? `CONFIG_${name}=y` : `# CONFIG_${name} is not set`)
  }
  return text
}
