// kwok as a component: simulates nodes that have no kubelet.
import { EventRecorder } from '../../client/events/event-recorder.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { context } from '../../base/observability/context.ts'
import { Kwok, type KwokSettings } from '../../kwok/kwok.ts'
import { stageDefinition, stageDefinitionName } from '../../kwok/stages/stage-kind.ts'
import type { ParseYaml } from '../../kwok/stages/read-stage.ts'
import { createIfMissing } from '../bootstrap/bootstrap-objects.ts'
import { adminUser } from '../client/component-users.ts'
import { documentsIn } from '../manifests/manifest.ts'
import type { ComponentDefinition } from './component-definition.ts'

const name = 'kwok'

/** The first document of what a template gives. */
export const parseTemplateYaml: ParseYaml = async (text) => (await documentsIn(text))[0] ?? null

/** `onReady` is called when the nodes and pods that exist are known. */
export const kwokComponent = (settings: KwokSettings & { readonly onReady?: () => void }): ComponentDefinition => ({
  name,
  user: adminUser,
  lease: 'coxswain-kwok',
  prepare: ({ clock, random, log, flow, client: clientAs }) => ({
    start(tasks) {
      const client = clientAs(name, adminUser)
      const events = new EventRecorder(client, name, { clock, random, log })
      tasks.start('kwok', async (signal) => {
        const definition = { ...stageDefinition, metadata: { name: stageDefinitionName } }
        await createIfMissing(client, customResourceDefinition, definition, context(signal))
        const kwok = new Kwok(settings, { clock, random, log, flow, client, events, parseYaml: parseTemplateYaml })
        kwok.start(tasks)
        if (settings.onReady !== undefined) void kwok.synced().then(settings.onReady)
      })
    },
  }),
})
