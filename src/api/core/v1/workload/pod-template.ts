// PodTemplate: a stand-alone pod template.
import { message, struct } from '../../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../../meta/object.ts'
import { podTemplateSpec } from '../pod-spec/pod-template-spec.ts'
import { objectMetaField } from '../../../meta/v1/object-meta.ts'
import { column, defineKind } from '../../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../../validation/names.ts'
import { validateTemplateSpec, withTemplateSpecDefaults } from '../pod-spec/pod-template-rules.ts'
import { containerImages, containerNames } from '../pod-spec/template-owner-rules.ts'
import { labelsText } from '../../../columns/labels-text.ts'

export const podTemplateMessage = message(
  'io.k8s.api.core.v1.PodTemplate',
  {
    metadata: objectMetaField,
    template: struct(2, podTemplateSpec, { description: 'The template of the pods.' }),
  },
  'A pod template as a separate object.',
)
export interface PodTemplate extends ObjectOf<typeof podTemplateMessage> {}
export type PodTemplateInput = InputOf<typeof podTemplateMessage>

export const podTemplate = defineKind<PodTemplate, PodTemplateInput>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  singular: 'podtemplate',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: podTemplateMessage,
  hasStatus: false,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, template: withTemplateSpecDefaults(object.template) }),
  validate: ({ template }) => validateTemplateSpec(template, 'template'),
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Containers', ({ template }) => containerNames(template)),
    column('Images', ({ template }) => containerImages(template)),
    column('Pod Labels', ({ template }) => labelsText(template.metadata.labels)),
  ],
  fieldLabels: {},
})
