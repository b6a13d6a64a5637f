// Makes the files of a release: `node scripts/release.mjs [--out <folder>] [--executables <folder>] [--tag]`. It checks the tree,
// the version and the changelog, builds and packs, and writes the checksums. `--executables` names what executable-archive.mjs has
// made on a machine of each architecture; otherwise the one of this machine is made. `--tag` also creates the tag of the version.
// Nothing is published.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { executableArchitectures, executableFiles } from './executable-files.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The sections of a changelog: heading → text. */
const sectionsOf = (changelog) =>
  new Map(
    changelog
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n')).trim()]),
  )

/** What prevents a release of this version. `taggedCommit` is the commit of its tag, if there is one. */
export function releaseProblems({ version, changelog, changedFiles, commit, taggedCommit }) {
  const sections = sectionsOf(changelog)
  const [first, second] = sections.keys()
  return [
    ...changedFiles.map((file) => `the tree is not clean: ${file}`),
    ...(first === 'Unreleased' ? [] : ['CHANGELOG.md does not begin with the section Unreleased']),
    ...((sections.get('Unreleased') ?? '') === ''
      ? []
      : [`CHANGELOG.md has unreleased changes; move them to the section ${version}`]),
    ...(second === version
      ? []
      : [`the newest version in CHANGELOG.md is ${second ?? 'missing'}, that of package.json ${version}`]),
    ...(sections.get(version) === '' ? [`CHANGELOG.md has no changes of ${version}`] : []),
    ...(taggedCommit === undefined || taggedCommit === commit
      ? []
      : [`the tag v${version} is another commit; raise the version`]),
  ]
}

/** What is wrong with the names of the files that were made on the machines of each architecture. */
export function executableProblems(version, names) {
  const expected = executableArchitectures.flatMap((each) => Object.values(executableFiles(version, each)))
  return [
    ...expected.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
    ...names.filter((name) => !expected.includes(name)).map((name) => `${name} is not part of the release`),
  ]
}

/** As sha256sum prints it, so that `sha256sum --check` reads it. */
export const checksumLines = (files) =>
  files.map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`).join('')

// The Node.js of the checkout runs npm too, because the compression of the package depends on its version.
const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}` }
const run = (program, ...args) => execFileSync(program, args, { cwd: root, env, encoding: 'utf8' }).trim()
const read = (path) => readFileSync(join(root, path), 'utf8')
const linesOf = (text) => text.split('\n').filter((line) => line !== '')

/** Copies the executables of a folder, or makes that of this machine, which takes the Node.js of the checkout. */
function addExecutables(version, from, folder) {
  if (from === undefined) return void run('node', join('scripts', 'executable-archive.mjs'), folder)
  const names = readdirSync(from)
  const problems = executableProblems(version, names)
  if (problems.length > 0) throw new Error(problems.map((each) => `--executables ${from}: ${each}`).join('\n'))
  for (const name of names) copyFileSync(join(from, name), join(folder, name))
}

function release({ out, executables, tag }) {
  const { name, version } = JSON.parse(read('package.json'))
  const tags = linesOf(run('git', 'tag', '--list', `v${version}`))
  const problems = releaseProblems({
    version,
    changelog: read('CHANGELOG.md'),
    changedFiles: linesOf(run('git', 'status', '--porcelain')),
    commit: run('git', 'rev-parse', 'HEAD'),
    taggedCommit: tags.length === 0 ? undefined : run('git', 'rev-list', '-n1', `v${version}`),
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const ownFolder = join(root, '.cache', 'release', version)
  if (out === undefined) rmSync(ownFolder, { recursive: true, force: true })
  const folder = resolve(out ?? ownFolder)
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).length > 0) throw new Error(`--out ${folder} is not empty`)
  run('npm', 'pack', '--pack-destination', folder)
  copyFileSync(join(root, 'dist', 'sbom.cdx.json'), join(folder, `${name}-${version}.cdx.json`))
  addExecutables(version, executables, folder)
  const files = readdirSync(folder).toSorted()
  writeFileSync(
    join(folder, 'SHA256SUMS'),
    checksumLines(files.map((file) => [file, readFileSync(join(folder, file))])),
  )
  if (tag && tags.length === 0) run('git', 'tag', '--annotate', '--message', `${name} ${version}`, `v${version}`)
  console.log([...files, 'SHA256SUMS'].map((file) => join(folder, file)).join('\n'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const options = {
      out: { type: 'string' },
      executables: { type: 'string' },
      tag: { type: 'boolean', default: false },
    }
    release(parseArgs({ options }).values)
  } catch (error) {
    console.error(`release: ${error.message}`)
    process.exitCode = 1
  }
}
