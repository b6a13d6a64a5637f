// The common part of all reviews: they are computed and never stored, so they have no names, columns or updates.
import type { KindDefinition } from './kind.ts'

export const reviewShape = {
  shortNames: [],
  categories: [],
  computed: ['create'],
  hasStatus: false,
  countsGenerations: false,
  validateName: () => [],
  validateUpdate: () => [],
  columns: [],
  fieldLabels: {},
} as const satisfies Partial<KindDefinition>
