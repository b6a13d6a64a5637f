// Fetches a program, or its source, from another Debian release than the machine's own, without changing the system.
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
import { dirname, join } from 'node:path'

const fetchSecondsMax = 120

/**
 * Fetches `program` ({ package, path } inside the package) from each suite and copies it to `targetOf(binary)`, which
 * returns undefined for a binary that does not run here. Returns the reasons of failures, or ''.
 */
export function fetchFromSuites(program, suites, targetOf, log) {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get'))
    return 'only Debian and Ubuntu are served by this set-up'
  const archive = debianArchive()
  if (archive === undefined) return 'apt has no Debian archive configured'
  let reason = ''
  for (const suite of suites) {
    log(`fetching ${program.package} from Debian ${suite}`)
    const failure = fetchFrom(archive, suite, program, targetOf)
    if (failure !== undefined) reason = `Debian ${suite}: ${failure}`
  }
  return reason
}

function fetchFrom(archive, suite, program, targetOf) {
  const work = mkdtempSync(join(tmpdir(), 'coxswain-debian-'))
  try {
    const failure =
      aptGet('deb', archive, suite, ['download', program.package], work) ??
      run('dpkg-deb', ['-x', readdirSync(work).find((name) => name.endsWith('.deb')), 'unpacked'], work)
    if (failure !== undefined) return failure
    const binary = join(work, 'unpacked', program.path)
    const target = targetOf(binary)
    if (target === undefined) return `the ${program.package} of that release does not run here`
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(binary, target)
    chmodSync(target, 0o755)
    return undefined
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Fetches the files of a source package into the folder; returns the reason of a failure. */
export function fetchSource(name, suite, folder) {
  const archive = debianArchive()
  if (archive === undefined) return 'apt has no Debian archive configured'
  return aptGet('deb-src', archive, suite, ['source', '--download-only', name], folder)
}

/**
 * Fetches packages, and those that they depend on, into the folder `archives` of an empty folder; returns the reason of a
 * failure.
 */
export function fetchPackages(names, suite, folder) {
  const archive = debianArchive()
  if (archive === undefined) return 'apt has no Debian archive configured'
  mkdirSync(join(folder, 'archives', 'partial'), { recursive: true })
  const options = [`-oDir::Cache=${folder}`, '-y', '--no-install-recommends', '--download-only']
  return aptGet('deb', archive, suite, [...options, 'install', ...names], folder)
}

/** Runs apt-get in the folder with the packages of this suite alone, whose lists are kept apart from the system's. */
function aptGet(type, archive, suite, action, folder) {
  const state = mkdtempSync(join(tmpdir(), 'coxswain-apt-'))
  try {
    mkdirSync(join(state, 'lists', 'partial'), { recursive: true })
    const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'
    // A package of the same name that the machine has from elsewhere, as of a cloud's tools, is not a candidate.
    writeFileSync(join(state, 'status'), '')
    writeFileSync(join(state, 'sources.list'), `${type} [signed-by=${keyring}] ${archive} ${suite} main\n`)
    const options = [
      '-qq',
      `-oDir::Etc::sourcelist=${join(state, 'sources.list')}`,
      '-oDir::Etc::sourceparts=-',
      `-oDir::State::lists=${join(state, 'lists')}`,
      `-oDir::State::status=${join(state, 'status')}`,
      '-oAPT::Sandbox::User=root',
    ]
    return run('apt-get', [...options, 'update'], folder) ?? run('apt-get', [...options, ...action], folder)
  } finally {
    rmSync(state, { recursive: true, force: true })
  }
}

/** The archive that this machine's apt already uses, so that the project contains no host name. */
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
