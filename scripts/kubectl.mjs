// Finds the real kubectl, or fetches it from Debian's packages into .cache/ without changing the system.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Debian releases whose kubectl runs on the C library of the oldest release that we support.
const debianSuites = ['trixie', 'forky']
const minorOldest = 27
const fetchSecondsMax = 120

const cacheOf = (root) => join(root, '.cache', 'kubectl')

/** Every usable kubectl as `{ version, path, cached }`, newest last. */
export function findKubectls(root) {
  const cached = existsSync(cacheOf(root))
    ? readdirSync(cacheOf(root)).map((version) => ({
        version,
        path: join(cacheOf(root), version, 'kubectl'),
        cached: true,
      }))
    : []
  const onPath = pathCandidates()
    .map((path) => ({ version: versionOf(path), path, cached: false }))
    .filter(({ version }) => version !== undefined)
  const seen = new Map()
  for (const found of [...onPath, ...cached]) if (minorOf(found.version) >= minorOldest) seen.set(found.version, found)
  // oxlint-disable-next-line unicorn/no-array-sort -- toSorted is newer than the Node.js that may run this
  return [...seen.values()].sort((a, b) => minorOf(a.version) - minorOf(b.version))
}

/** Fetches one kubectl per Debian suite; returns the reason for what could not be had. */
export function fetchKubectls(root, say) {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get'))
    return 'only Debian and Ubuntu are served by this set-up'
  const archive = debianArchive()
  if (archive === undefined) return 'apt has no Debian archive configured'
  let reason = ''
  for (const suite of debianSuites) {
    say(`fetching kubectl from Debian ${suite}`)
    const failure = fetchFrom(archive, suite, root)
    if (failure !== undefined) reason = `Debian ${suite}: ${failure}`
  }
  return reason
}

function fetchFrom(archive, suite, root) {
  const work = mkdtempSync(join(tmpdir(), 'coxswain-kubectl-'))
  try {
    mkdirSync(join(work, 'lists', 'partial'), { recursive: true })
    const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
    writeFileSync(join(work, 'sources.list'), `deb [signed-by=${keyring}] ${archive} ${suite} main\n`)
    const options = [
      '-qq',
      `-oDir::Etc::sourcelist=${join(work, 'sources.list')}`,
      '-oDir::Etc::sourceparts=-',
      `-oDir::State::lists=${join(work, 'lists')}`,
      '-oAPT::Sandbox::User=root',
    ]
    for (const action of [['update'], ['download', 'kubectl']]) {
      const failure = run('apt-get', [...options, ...action], work)
      if (failure !== undefined) return failure
    }
    const archiveFile = readdirSync(work).find((name) => name.endsWith('.deb'))
    const failure = run('dpkg-deb', ['-x', archiveFile, 'unpacked'], work)
    if (failure !== undefined) return failure
    const binary = join(work, 'unpacked', 'usr', 'bin', 'kubectl')
    const version = versionOf(binary)
    if (version === undefined) return 'the kubectl of that release does not run here'
    const target = join(cacheOf(root), version)
    mkdirSync(target, { recursive: true })
    copyFileSync(binary, join(target, 'kubectl'))
    chmodSync(join(target, 'kubectl'), 0o755)
    return undefined
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The archive that this machine's apt already uses, so that no host name stands in the project. */
function debianArchive() {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI) $(ORIGIN)'], { encoding: 'utf8' })
  const rows = (stdout ?? '').split('\n').map((row) => row.split(' '))
  return rows.find(([uri, origin]) => origin === 'Debian' && /\/debian\/?$/.test(uri))?.[0]
}

function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: fetchSecondsMax * 1000 })
  if (status === 0) return undefined
  return error?.message ?? (stderr.trim().split('\n').at(-1) || `${command} ended with ${status}`)
}

function pathCandidates() {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => existsSync(folder))
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^kubectl(\.1\.\d+)?$/.test(name))
      .map((name) => join(folder, name)),
  )
}

function versionOf(path) {
  const { status, stdout } = spawnSync(path, ['version', '--client', '-o', 'json'], {
    encoding: 'utf8',
    timeout: 10_000,
  })
  if (status !== 0) return undefined
  return JSON.parse(stdout)
    .clientVersion?.gitVersion?.replace(/^v/, '')
    .replace(/[^0-9.].*$/, '')
}

const minorOf = (version) => Number(version.split('.')[1])
