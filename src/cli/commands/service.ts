// coxswain service: runs up, server or agent as a service of systemd.
import { lookup } from '../../base/collections/lookup.ts'
import { existsSync } from 'node:fs'
import { nodePlatform } from '../../platform/node/platform.ts'
import { installService, uninstallService } from '../../cluster/service/install-service.ts'
import { unitText } from '../../cluster/service/systemd-unit.ts'
import {
  commandNamed,
  defineCommand,
  namedConfigFile,
  parseCommand,
  UsageError,
  type Command,
} from '../command/command.ts'
import { configFileFlags, thisProcess } from '../command/config-file.ts'
import { ownProgram } from '../command/own-program.ts'
import { asUsage } from '../options/component-options.ts'

/** The commands that run a machine, and the names of their units. */
const units: Readonly<Record<string, string>> = { agent: 'coxswain-agent', server: 'coxswain-server', up: 'coxswain' }
const operandsMax = 500
const unitDirectory = '/etc/systemd/system'

/** `commands` are all commands, in which the one of the service is found. */
export const service = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: 'service',
    summary: 'runs up, server or agent as a service of systemd, also after a restart of the machine',
    operands: `install|uninstall ${Object.keys(units).join('|')} [-- <flags>]`,
    operandValues: () => ['install', 'uninstall'],
    operandsMax,
    options: {
      'dry-run': { type: 'boolean', help: 'install: print the unit and change nothing' },
    },
    async run({ operands: [action, kind = '', ...flags], options }, { out, environment, signal }) {
      const name = lookup(units, kind)
      const isInstall = action === 'install'
      if (name === undefined || (!isInstall && (action !== 'uninstall' || flags.length > 0)))
        throw new UsageError(`the operands are: install|uninstall ${Object.keys(units).join('|')} [-- <flags>]`)
      const deps = { files: nodePlatform.files, processes: nodePlatform.processes, directory: unitDirectory }
      if (!isInstall) {
        requireSystemd()
        const removed = await uninstallService(name, deps, signal)
        out(
          removed === undefined ? `there is no service ${name}\n` : `${removed} is removed; containers keep running\n`,
        )
        return 0
      }
      await checkFlags(commands(), kind, flags)
      const program = [...ownProgram(environment), kind, ...flags]
      const text = asUsage(() => unitText(`Coxswain ${kind}`, program))
      if (options['dry-run'] === true) {
        out(text)
        return 0
      }
      requireSystemd()
      out(`${await installService(name, text, deps, signal)} is installed; its log: journalctl --unit ${name}\n`)
      return 0
    },
  })

/** Mistakes are reported now, and not by a service that restarts forever. */
async function checkFlags(commands: readonly Command[], kind: string, flags: readonly string[]): Promise<void> {
  const command = commandNamed(commands, kind)
  if (command === undefined) throw new UsageError(`there is no command ${kind}`)
  const configured = await configFileFlags(command, namedConfigFile(command, flags), thisProcess)
  const { options } = parseCommand(command, flags, configured)
  if (flags.some((flag) => flag === '--token' || flag.startsWith('--token=')))
    throw new UsageError(
      'all users may read a unit: write the token to a file, and use --token-file or a file of flags',
    )
  if ('detach' in options) throw new UsageError('--detach cannot be used in a service')
}

function requireSystemd(): void {
  if (!existsSync('/run/systemd/system'))
    throw new UsageError('this machine does not run systemd; --dry-run prints the unit')
  if (process.getuid?.() !== 0) throw new UsageError('it needs root')
}
