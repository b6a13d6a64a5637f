// Dialect: Kubernetes has the language without `cel.bind` and quoted names, and checks literals: elements of a list have one
// type, and patterns, times and format strings are valid. Only the selectors of devices have `cel.bind`.

export type Dialect = 'standard' | 'kubernetes' | 'kubernetesWithBind'

export const isKubernetes = (dialect: Dialect): boolean => dialect !== 'standard'
