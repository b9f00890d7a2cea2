#include <sluice/deps.h>
int sluice_deps_explain(char **text, const sluice_program *program, size_t kernel, const char *producer,
                        const char *consumer, const sluice_targets *targets, const sluice_sink *sink)
{
  (void)program, (void)kernel, (void)producer, (void)consumer, (void)targets, (void)sink;
  *text = NULL;
  return SLUICE_E_ANSWER;
}
