// Options of the commands that run a node in a process of its own: `agent` and `kubelet`.
import { readFile } from 'node:fs/promises'
import { configuredFlags } from '../../cluster/flags/kubelet-configuration.ts'
import { kubeletFlags, kubeletSettings } from '../../cluster/flags/kubelet-flags.ts'
import { kubeletProcessFlags, kubeletProcessSettings } from '../../cluster/flags/kubelet-process-flags.ts'
import { missingContainerPrerequisites } from '../../cluster/node/container-prerequisites.ts'
import type { RunKubeletOptions } from '../../cluster/run/run-kubelet.ts'
import { UsageError, type CommandOption, type Terminal } from '../command/command.ts'
import { asUsage, componentLog, verboseOption } from './component-options.ts'
import { optionsOf, pick } from './server-options.ts'

const flags = { ...kubeletFlags, ...kubeletProcessFlags }
const flagNames = Object.keys(flags) as (keyof typeof flags)[]
const runtimes = ['auto', 'containerd', 'simulated'] as const

export const nodeOptions = {
  runtime: {
    type: 'string',
    value: runtimes.join('|'),
    help: 'what runs containers (auto: containerd if it is installed and you are root, otherwise simulated)',
  },
  ...optionsOf(kubeletProcessFlags, 'Server, certificates and registration'),
  ...optionsOf(kubeletFlags, 'Pods, images and evictions'),
  ...verboseOption,
} as const satisfies Record<string, CommandOption>

type NodeFlags = { readonly [Name in keyof typeof nodeOptions]?: string | boolean }

export interface NodeChoices extends Pick<RunKubeletOptions, 'runtime' | 'settings' | 'process' | 'log' | 'onReady'> {}

export interface KubeletConfigurationFile {
  /** The flag that names it. */
  readonly flag: string
  readonly path: string | undefined
}

export async function nodeChoicesOf(
  options: NodeFlags,
  configuration: KubeletConfigurationFile,
  terminal: Pick<Terminal, 'out' | 'err' | 'isTerminal'>,
): Promise<NodeChoices> {
  const chosen = runtimes.find((each) => each === (options.runtime ?? 'auto'))
  if (chosen === undefined)
    throw new UsageError(`--runtime ${JSON.stringify(options.runtime)} is none of ${runtimes.join(', ')}`)
  const given = options as Readonly<Partial<Record<keyof typeof flags, string>>>
  const values = { ...(await configured(configuration)), ...pick(given, flagNames) }
  const hasRuntime = values['container-runtime-endpoint'] !== undefined
  const whyNot = hasRuntime ? undefined : missingContainerPrerequisites()
  if (chosen === 'containerd' && whyNot !== undefined) throw new UsageError(`--runtime containerd: ${whyNot}`)
  const runtime = chosen === 'auto' ? (whyNot === undefined ? 'containerd' : 'simulated') : chosen
  return {
    runtime,
    ...asUsage(() => ({ settings: kubeletSettings(values), process: kubeletProcessSettings(values) })),
    log: componentLog(options.verbose === true, terminal),
    onReady: ({ name, url }) => {
      terminal.out(`ready: node ${name} at ${url}\n`)
      if (runtime === 'simulated')
        terminal.out(`  pods run as functions, no container is started${whyNot === undefined ? '' : ` (${whyNot})`}\n`)
    },
  }
}

async function configured({ flag, path }: KubeletConfigurationFile): Promise<ReturnType<typeof configuredFlags>> {
  if (path === undefined) return {}
  const { parse } = await import('yaml')
  try {
    return configuredFlags(parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new UsageError(`--${flag} ${path}: ${(error as Error).message}`, { cause: error })
  }
}
