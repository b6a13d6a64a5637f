// coxswain kubelet: joins this machine, or a simulated one, to any cluster as a node.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { createLog } from '../../base/observability/log.ts'
import { configuredFlags } from '../../cluster/flags/kubelet-configuration.ts'
import { kubeletFlags, kubeletSettings } from '../../cluster/flags/kubelet-flags.ts'
import { kubeletProcessFlags, kubeletProcessSettings } from '../../cluster/flags/kubelet-process-flags.ts'
import { runKubelet } from '../../cluster/run/run-kubelet.ts'
import { missingContainerPrerequisites } from '../../cluster/node/container-prerequisites.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { dataDirectoryOf } from '../options/data-directory-option.ts'
import { optionsOf, pick } from '../options/server-options.ts'

const flags = { ...kubeletFlags, ...kubeletProcessFlags }
const flagNames = Object.keys(flags) as (keyof typeof flags)[]
const runtimes = ['auto', 'containerd', 'simulated'] as const

export const kubelet = defineCommand({
  name: 'kubelet',
  summary: 'makes this machine a node of any cluster',
  operands: '',
  options: {
    kubeconfig: {
      type: 'string',
      value: '<file>',
      help: 'the kubeconfig of the API server; written when the node joins (kubelet.kubeconfig in the data directory)',
    },
    'bootstrap-kubeconfig': {
      type: 'string',
      value: '<file>',
      help: 'a kubeconfig with a bootstrap token, with which the node requests its first certificate',
    },
    config: { type: 'string', value: '<file>', help: 'a KubeletConfiguration; flags override it' },
    'data-dir': {
      type: 'string',
      value: '<directory>',
      help: 'the data directory of the node (~/.local/share/coxswain/kubelet)',
    },
    runtime: {
      type: 'string',
      value: runtimes.join('|'),
      help: 'what runs containers (auto: containerd if it is installed and you are root, otherwise simulated)',
    },
    ...optionsOf(kubeletProcessFlags, 'Server, certificates and registration'),
    ...optionsOf(kubeletFlags, 'Pods, images and evictions'),
    verbose: { type: 'boolean', short: 'v', help: 'log more' },
  },
  async run({ options }, { out, err, isTerminal, environment, signal }) {
    const dataDirectory =
      options['data-dir'] === undefined
        ? join(dataDirectoryOf(undefined, environment), 'kubelet')
        : resolve(options['data-dir'])
    const chosen = runtimes.find((each) => each === (options.runtime ?? 'auto'))
    if (chosen === undefined)
      throw new UsageError(`--runtime ${JSON.stringify(options.runtime)} is none of ${runtimes.join(', ')}`)
    const values = { ...(await configured(options.config)), ...pick(options, flagNames) }
    const hasRuntime = values['container-runtime-endpoint'] !== undefined
    const whyNot = hasRuntime ? undefined : missingContainerPrerequisites()
    if (chosen === 'containerd' && whyNot !== undefined) throw new UsageError(`--runtime containerd: ${whyNot}`)
    const runtime = chosen === 'auto' ? (whyNot === undefined ? 'containerd' : 'simulated') : chosen
    const level = options.verbose ? 'debug' : 'info'
    const log = createLog({ clock: realClock, write: err, format: isTerminal ? 'text' : 'json', level })
    const bootstrap = options['bootstrap-kubeconfig']
    await runKubelet(
      {
        kubeconfigPath: resolve(options.kubeconfig ?? join(dataDirectory, 'kubelet.kubeconfig')),
        bootstrapPath: bootstrap === undefined ? undefined : resolve(bootstrap),
        dataDirectory,
        runtime,
        ...settingsOf(values),
        log,
        onReady: ({ name, url }) => {
          out(`ready: node ${name} at ${url}\n`)
          if (runtime === 'simulated')
            out(`  pods run as functions, no container is started${whyNot === undefined ? '' : ` (${whyNot})`}\n`)
        },
      },
      signal,
    )
    return 0
  },
})

async function configured(path: string | undefined): Promise<ReturnType<typeof configuredFlags>> {
  if (path === undefined) return {}
  const { parse } = await import('yaml')
  try {
    return configuredFlags(parse(await readFile(path, 'utf8')))
  } catch (error) {
    throw new UsageError(`--config ${path}: ${(error as Error).message}`, { cause: error })
  }
}

function settingsOf(values: ReturnType<typeof configuredFlags>) {
  try {
    return { settings: kubeletSettings(values), process: kubeletProcessSettings(values) }
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}
