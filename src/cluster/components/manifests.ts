// The folder of manifests as a component: where several servers run, one of them applies its folder.
import { EventRecorder } from '../../client/events/event-recorder.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { manifestsUser } from '../client/component-users.ts'
import type { ComponentDefinition } from './component-definition.ts'

const name = 'manifests'

export interface ManifestSettings {
  readonly folder: string
  /** The name of this machine. */
  readonly server: string
}

export const manifestsComponent = ({ folder, server }: ManifestSettings): ComponentDefinition => ({
  name,
  user: manifestsUser,
  lease: 'coxswain-manifests',
  prepare(host) {
    const { clock, log, metrics } = host
    // Clusters without a folder, such as those of tests, do not load what applies one.
    const loaded = Promise.all([
      import('../manifests/manifest-folder.ts'),
      import('../../apiserver/http/yaml-parser.ts'),
    ]).then(([folders, { offloadedYaml }]) => ({ ...folders, offloadedYaml, files: folders.manifestGauge(metrics) }))
    return {
      start(tasks) {
        const client = host.client(name, manifestsUser)
        const events = new EventRecorder(client, name, host)
        tasks.start('events of manifests', (signal) => events.run(signal))
        tasks.start('manifests', async (signal) => {
          const { ManifestFolder, offloadedYaml, files } = await loaded
          const yaml = offloadedYaml(nodePlatform.workers, clock)
          try {
            await new ManifestFolder(folder, server, { client, events, clock, log, files, yaml }).run(signal)
          } finally {
            await yaml.close()
          }
        })
      },
    }
  },
})
