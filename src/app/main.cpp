#include <clocale>
#include <string>
#include <vector>

#include "app/program.h"

int main(int count, char** words) {
  return tunesmith::app::run_program(std::vector<std::string>(words + 1, words + count), stdout, stderr);
}
